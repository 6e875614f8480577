"""Resources as users wrote them, parsed once into values; what the schema refuses is refused here again."""
