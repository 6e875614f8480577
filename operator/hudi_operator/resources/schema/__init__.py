"""What manifests may hold: fields, bounds and rules, from which the CRDs and their documentation are written."""
