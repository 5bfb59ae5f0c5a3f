"""Any model under any protocol and measure: what the library is without its wings."""
