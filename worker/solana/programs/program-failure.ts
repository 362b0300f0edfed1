export type FailureCause = string | { Custom: number };

export class ProgramFailure extends Error {
  readonly failure: FailureCause;

  constructor(failure: FailureCause) {
    super(typeof failure === 'string' ? failure : `custom program error: 0x${failure.Custom.toString(16)}`);
    this.name = 'ProgramFailure';
    this.failure = failure;
  }
}

export function failProgram(cause: number | string): never {
  throw new ProgramFailure(typeof cause === 'number' ? { Custom: cause } : cause);
}
