"""The demo site that a running service can watch: what its pages say at any time, and who serves them."""
