"""The movement of events: from a log through the reducers to the writers of views, and the workers beside it.

A flow decides nothing about the meaning of an event (`state`) and knows no format (`sinks`); `tools` passes
the log and the views.
"""
