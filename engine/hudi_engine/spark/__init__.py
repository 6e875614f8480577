"""What Spark spreads over its tasks. Only here is pyspark imported."""
