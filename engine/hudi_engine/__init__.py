"""The engine: reads real Apache Hudi tables of versions 6, 8 and 9, and will serve them, without a JVM."""
