"""Rules turned into typed tables; a mistake carries the path of the bad field."""
