"""What an operator can do: each verb from the state to its receipt."""
