"""Hudi's log files: blocks in and out, and which of them count. Section 5 of the format notes."""
