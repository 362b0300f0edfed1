/** Why an instruction failed, as a node spells it: the name of a built-in cause, or the program's own number. */
export type FailureCause = string | { Custom: number };

/** An instruction that a program refused. */
export class ProgramFailure extends Error {
  readonly failure: FailureCause;

  constructor(failure: FailureCause) {
    super(typeof failure === 'string' ? failure : `custom program error: 0x${failure.Custom.toString(16)}`);
    this.name = 'ProgramFailure';
    this.failure = failure;
  }
}

/** Refuses the instruction with a number of the program, or with a cause every program shares. */
export function failProgram(cause: number | string): never {
  throw new ProgramFailure(typeof cause === 'number' ? { Custom: cause } : cause);
}
