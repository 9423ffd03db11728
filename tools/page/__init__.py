"""The web page of this machine: views for people in a browser, on loopback alone."""
