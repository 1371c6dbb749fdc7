"""What an operator can do: each verb from the situation to its receipt."""
