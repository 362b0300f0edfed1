import type { AccountId, PasskeyId, SessionId } from '#core/ids.ts';
import type { PersonAnswer } from '#rules/access/person-rpc.ts';
import {
  DEVICE_MS,
  DEVICES_MAX,
  deviceOf,
  type EndedSessions,
  isEnded,
  SEEN_MS,
  SESSIONS_MAX,
  type Session,
  type UsedSession,
} from '#rules/access/sessions.ts';
import type { AdmittedAccount } from '#rules/admission.ts';
import { Tables } from '../tables.ts';

const COLUMNS = {
  sessions: `id TEXT PRIMARY KEY, method TEXT NOT NULL, factor TEXT, ip TEXT NOT NULL, country TEXT, user_agent TEXT NOT NULL,
    account_id TEXT NOT NULL, token_version INTEGER NOT NULL, created_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL, ended_at INTEGER, passkey_id TEXT`,
  devices: 'id TEXT PRIMARY KEY, at INTEGER NOT NULL',
};

type Row = {
  id: SessionId;
  method: Session['method'];
  factor: Session['factor'];
  ip: string;
  country: string | null;
  user_agent: string;
  account_id: AccountId;
  token_version: number;
  created_at: number;
  last_seen_at: number;
  expires_at: number;
  ended_at: number | null;
  passkey_id: PasskeyId | null;
};

const OPEN = 'ended_at IS NULL AND expires_at > ?';

/**
 * Sessions of a person, in the tables of the person's object. The table is created by the first session. An ended session remains as
 * such for a while, so that ending it again is no error.
 */
export class Sessions {
  readonly #tables: Tables;

  constructor(sql: SqlStorage) {
    this.#tables = new Tables(sql, COLUMNS);
    this.#tables.load();
  }

  /**
   * Stores a session that a verified credential began. Sessions of earlier token versions end, and the one unused longest if there are
   * too many. `isFirst`: only if the person never had one, for a registration that is answered again. True if the device is new to a person
   * who signed in before: `learnDevice` follows once that is recorded.
   */
  begin(session: Session, isFirst: boolean): boolean {
    const { createdAt: now } = session;
    if (isFirst && this.#tables.rows('SELECT 1 FROM sessions LIMIT 1').length > 0) return false;
    this.expire(now);
    const isNew = this.#isNewDevice(deviceOf(session), now);
    if (!isNew) this.learnDevice(session);
    this.#tables.write(
      'INSERT OR IGNORE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)',
      ...[session.sessionId, session.method, session.factor, session.ip, session.country, session.userAgent],
      ...[session.accountId, session.tokenVersion, now, session.lastSeenAt, session.expiresAt, session.passkeyId],
    );
    this.#tables.write('UPDATE sessions SET ended_at = ? WHERE ended_at IS NULL AND token_version < ?', now, session.tokenVersion);
    this.#tables.write(`UPDATE sessions SET ended_at = ? WHERE id IN (${beyond('ended_at IS NULL', 'last_seen_at')})`, now);
    this.#tables.write(`DELETE FROM sessions WHERE id IN (${beyond('ended_at IS NOT NULL', 'ended_at')})`);
    return isNew;
  }

  #isNewDevice(device: string, now: number): boolean {
    const known = this.#tables.rows<{ id: string; at: number }>('SELECT id, at FROM devices');
    return known.length > 0 && !known.some(({ id, at }) => id === device && at > now - DEVICE_MS);
  }

  /** Knows the device of a session for DEVICE_MS. The newest one always remains. */
  learnDevice(session: Session): void {
    const [device, now] = [deviceOf(session), session.createdAt];
    this.#tables.write('INSERT INTO devices VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET at = max(at, excluded.at)', device, now);
    this.#tables.write('DELETE FROM devices WHERE at <= ? AND id <> ?', now - DEVICE_MS, device);
    this.#tables.write(`DELETE FROM devices WHERE id IN (SELECT id FROM devices ORDER BY at DESC, id LIMIT -1 OFFSET ${DEVICES_MAX})`);
  }

  /** True if the session is open. Reads one row, and stores the time of use once in SEEN_MS. */
  use({ sessionId, tokenVersion }: UsedSession, now: number): boolean {
    const [row] = this.#tables.rows<Pick<Row, 'last_seen_at'>>(
      `SELECT last_seen_at FROM sessions WHERE id = ? AND token_version = ? AND ${OPEN}`,
      ...[sessionId, tokenVersion, now],
    );
    if (!row) return false;
    if (now >= row.last_seen_at + SEEN_MS) this.#tables.write('UPDATE sessions SET last_seen_at = ? WHERE id = ?', now, sessionId);
    return true;
  }

  /** Accepts a token of the person for another account. */
  admit({ tokenVersion, factors }: AdmittedAccount, session: UsedSession, now: number): PersonAnswer {
    if (session.tokenVersion !== tokenVersion) return { ok: false, reason: 'stale_token' };
    return this.use(session, now) ? { ok: true, ...(factors && { factors }) } : { ok: false, reason: 'session_ended' };
  }

  /** Ends open sessions, and returns their number. */
  endAll(ended: EndedSessions, tokenVersion: number, now: number): number {
    const open = this.list(tokenVersion, now).filter((session) => isEnded(session, ended));
    for (const { sessionId } of open) this.end(sessionId, now);
    return open.length;
  }

  move(sessionId: string, accountId: AccountId): void {
    this.#tables.write('UPDATE sessions SET account_id = ? WHERE id = ?', accountId, sessionId);
  }

  /** Lists the open sessions, newest use first. */
  list(tokenVersion: number, now: number): Session[] {
    const rows = this.#tables.rows<Row>(
      `SELECT * FROM sessions WHERE token_version >= ? AND ${OPEN} ORDER BY last_seen_at DESC, id DESC`,
      ...[tokenVersion, now],
    );
    return rows.map((row) => ({
      sessionId: row.id,
      method: row.method,
      factor: row.factor,
      passkeyId: row.passkey_id,
      ip: row.ip,
      country: row.country,
      userAgent: row.user_agent,
      accountId: row.account_id,
      tokenVersion: row.token_version,
      createdAt: row.created_at,
      lastSeenAt: row.last_seen_at,
      expiresAt: row.expires_at,
    }));
  }

  /** Ends a session. False if it had ended. Null if the person never had it, or it was forgotten. */
  end(sessionId: string, now: number): boolean | null {
    const [row] = this.#tables.rows<Pick<Row, 'ended_at'>>('SELECT ended_at FROM sessions WHERE id = ?', sessionId);
    if (row?.ended_at !== null) return row ? false : null;
    this.#tables.write('UPDATE sessions SET ended_at = ? WHERE id = ? AND ended_at IS NULL', now, sessionId);
    return true;
  }

  forget(): void {
    for (const table of Object.keys(COLUMNS))
      if (this.#tables.rows(`SELECT 1 FROM ${table} LIMIT 1`).length > 0) this.#tables.write(`DELETE FROM ${table}`);
  }

  /** Deletes expired sessions. Returns the time at which the next one expires. */
  expire(now: number): number | null {
    const [next] = this.#tables.rows<{ at: number | null }>('SELECT min(expires_at) AS at FROM sessions');
    if (!next || next.at === null || next.at > now) return next?.at ?? null;
    this.#tables.write('DELETE FROM sessions WHERE expires_at <= ?', now);
    return this.expire(now);
  }
}

/** Sessions after the SESSIONS_MAX newest by a column. */
const beyond = (where: string, column: string): string =>
  `SELECT id FROM sessions WHERE ${where} ORDER BY ${column} DESC, id DESC LIMIT -1 OFFSET ${SESSIONS_MAX}`;
