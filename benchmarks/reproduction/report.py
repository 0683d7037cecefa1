def texts(record): return {}
