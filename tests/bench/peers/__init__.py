"""Memtape beside other products, on the same texts, in the same run, with the vectors of one endpoint."""
