"""HFiles as Hudi writes and reads them: bytes in, Arrow out, and back.

`read` holds the whole-file view and the pieces it is made of, so that a caller with a store can fetch single blocks;
`write` makes files that every Hudi release since 0.15.0 reads. Keys are bytes and compare unsigned.
"""
