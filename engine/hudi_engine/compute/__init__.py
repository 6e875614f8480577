"""How entries of an index are made of rows and written as shards, on this machine."""
