import { Secret, TOTP } from 'otpauth';

const STEP_MS = 30_000;
/** Longest time from a code to its check. */
const CHECKED_WITHIN_MS = 3_000;

/** Codes of a public implementation, as an authenticator app computes them. */
export class App {
  readonly #totp: TOTP;

  constructor(secret: string) {
    this.#totp = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });
  }

  code(at = Date.now()): string {
    return this.#totp.generate({ timestamp: at });
  }

  /**
   * Code of the step before, which sets the app up and leaves that of now unused. The service takes it until its own step ends, so it is made
   * at the beginning of the next one if that is near.
   */
  async codeBefore(): Promise<string> {
    const leftMs = STEP_MS - (Date.now() % STEP_MS);
    if (leftMs < CHECKED_WITHIN_MS) await new Promise((resolve) => setTimeout(resolve, leftMs));
    return this.code(Date.now() - STEP_MS);
  }

  /** Code that is none of the accepted ones around now. */
  wrong(): string {
    const now = Date.now();
    const near = [-90, -60, -30, 0, 30, 60, 90].map((seconds) => this.code(now + seconds * 1000));
    return ['000000', '111111', '222222', '333333', '444444', '555555', '666666', '777777'].find((code) => !near.includes(code))!;
  }
}
