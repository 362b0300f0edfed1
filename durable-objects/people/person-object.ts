import { DurableObject } from 'cloudflare:workers';
import type { AccountId } from '#core/ids.ts';
import type { Env } from '#platform/context.ts';
import type { Notice, PasswordTry, TriedPassword } from '#rules/access/password-tries.ts';
import type { EndedSessions, Session, UsedSession } from '#rules/access/sessions.ts';
import { PasswordTries } from './password-tries.ts';
import { Sessions } from './sessions.ts';

/**
 * Part of an object that knows how a person signs in: sessions, in the object of the account, and failed passwords, in an object of the email
 * address. Both are created on demand, so that a call with a key reads nothing of them.
 */
export abstract class PersonObject extends DurableObject<Env> {
  #sessions: Sessions | null = null;
  #passwords: PasswordTries | null = null;

  protected get sessions(): Sessions {
    this.#sessions ??= new Sessions(this.ctx.storage.sql);
    return this.#sessions;
  }

  protected get passwords(): PasswordTries {
    this.#passwords ??= new PasswordTries(this.ctx.storage.sql);
    return this.#passwords;
  }

  /** Token version of the person. Zero if it is not loaded. */
  protected abstract readTokenVersion(): number;

  async beginSession(session: Session, isFirst = false): Promise<boolean> {
    const isNewDevice = this.sessions.begin(session, isFirst);
    await this.#beginAlarm();
    return isNewDevice;
  }

  async learnDevice(session: Session): Promise<void> {
    this.sessions.learnDevice(session);
  }

  async useSession(session: UsedSession, now: number): Promise<boolean> {
    return this.sessions.use(session, now);
  }

  async moveSession(sessionId: string, accountId: AccountId): Promise<void> {
    this.sessions.move(sessionId, accountId);
  }

  async listSessions(now: number): Promise<Session[]> {
    return this.sessions.list(this.readTokenVersion(), now);
  }

  async endSession(sessionId: string, now: number): Promise<boolean | null> {
    return this.sessions.end(sessionId, now);
  }

  async endSessions(ended: EndedSessions, now: number): Promise<number> {
    return this.sessions.endAll(ended, this.readTokenVersion(), now);
  }

  async forgetSessions(): Promise<void> {
    this.sessions.forget();
  }

  async tryPassword(tried: TriedPassword, now: number): Promise<PasswordTry> {
    const answer = this.passwords.try(tried, now);
    await this.#beginAlarm();
    return answer;
  }

  async withdrawPassword(tryId: number): Promise<void> {
    this.passwords.withdraw(tryId);
  }

  async learnNetworks(networks: string[], now: number): Promise<void> {
    this.passwords.learn(networks, now);
    await this.#beginAlarm();
  }

  async knownNetworks(now: number): Promise<string[]> {
    return this.passwords.known(now);
  }

  async forgetNetworks(): Promise<void> {
    this.passwords.forgetNetworks();
  }

  async claimNotice(notice: Notice, now: number): Promise<boolean> {
    return this.passwords.claim(notice, now);
  }

  /** An alarm under way stores usage, and sets the next one itself. */
  async #beginAlarm(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.setNextAlarm();
  }

  /** Deletes rows that have ended, and sets the alarm for the next ones. False if none are left. */
  protected async setNextAlarm(): Promise<boolean> {
    const now = Date.now();
    const ends = [this.sessions.expire(now), this.passwords.expire(now)].filter((at) => at !== null);
    if (ends.length === 0) return false;
    await this.ctx.storage.setAlarm(Math.min(...ends));
    return true;
  }

  protected async forgetAll(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#sessions = null;
    this.#passwords = null;
  }
}
