/** Letting an account in ends the session in which it waited; the form then says why it asks once more. */
class LetIn {
  email = $state("");
}

export const letIn = new LetIn();
