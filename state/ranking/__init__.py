"""The order in which texts answer a question, and how rankings are measured."""
