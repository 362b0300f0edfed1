import { Secret, TOTP } from 'otpauth';

/** Codes of a public implementation, as an authenticator app computes them. */
export class App {
  readonly #totp: TOTP;

  constructor(secret: string) {
    this.#totp = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });
  }

  code(at = Date.now()): string {
    return this.#totp.generate({ timestamp: at });
  }

  /** Code that is none of the accepted ones around now. */
  wrong(): string {
    const now = Date.now();
    const near = [-90, -60, -30, 0, 30, 60, 90].map((seconds) => this.code(now + seconds * 1000));
    return ['000000', '111111', '222222', '333333', '444444', '555555', '666666', '777777'].find((code) => !near.includes(code))!;
  }
}
