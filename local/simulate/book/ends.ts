import type { Reader } from './reader.ts';

const SLACK_MS = 3 * 60_000;
/** A checkout is given up three minutes after its end at the earliest, by one of the next crons. */
const GIVEN_UP_MS = 8 * 60_000;

/** Rows that wait, by what they wait for. Rows of sandboxes are left out, because scenarios have clocks of their own. `?` is a time in the past. */
const WAITING: readonly [what: string, sql: string, slackMs?: number][] = [
  ['events have no deliveries', 'SELECT count(*) AS n FROM events WHERE livemode = 1 AND fanned_out_at IS NULL AND created_at < ?'],
  [
    'deliveries are overdue',
    "SELECT count(*) AS n FROM webhook_deliveries WHERE status IN ('pending', 'retrying') AND next_attempt_at < ?",
  ],
  [
    'payments wait past their end',
    "SELECT count(*) AS n FROM payments WHERE livemode = 1 AND status LIKE 'PENDING%' AND expires_at < ?",
    GIVEN_UP_MS,
  ],
  ['settlements are pending', "SELECT count(*) AS n FROM settlements WHERE livemode = 1 AND status = 'pending' AND created_at < ?"],
  ['settlements are overdue', "SELECT count(*) AS n FROM settlements WHERE livemode = 1 AND status <> 'settled' AND next_check_at < ?"],
  ['sweeps are overdue', 'SELECT count(*) AS n FROM sweeps WHERE due_at < ?'],
];

const LEASED: readonly [what: string, sql: string][] = [
  ['requests hold leases', 'SELECT count(*) AS n FROM claims WHERE status IS NULL AND lease_until > ?'],
  ['sweeps hold leases', 'SELECT count(*) AS n FROM sweeps WHERE lease_until > ?'],
  ['deliveries hold leases', 'SELECT count(*) AS n FROM webhook_deliveries WHERE lease_until > ?'],
];

/** Longest pause after which an object sends again what the database has not acknowledged. */
const REPEAT_MS = 11 * 60_000;

/** Judges that entitlements stop announcing what the database has stored. Faults may leave one last repetition. */
async function judgeAlarms(reader: Reader): Promise<void> {
  const { host } = reader;
  const listRepeating = () =>
    (host.alarms?.() ?? []).filter(({ target, at }) => target.startsWith('ENTITLEMENT') && at < host.now() + REPEAT_MS);
  if (listRepeating().length === 0) return;
  await host.advance(REPEAT_MS);
  await host.settle();
  const repeating = listRepeating().length;
  reader.expect(repeating === 0, () => `${repeating} alarms of entitlements repeat for ever`);
}

/** Judges that everything ends after the faults: no row waits, no lease lasts, no sweep goes on failing. */
export async function judgeEnds(reader: Reader): Promise<void> {
  const now = reader.host.now();
  for (const [what, sql, slackMs = SLACK_MS] of WAITING) {
    const count = await reader.count(sql, now - slackMs);
    reader.expect(count === 0, () => `${count} ${what}`);
  }
  for (const [what, sql] of LEASED) {
    const count = await reader.count(sql, now);
    reader.expect(count === 0, () => `${count} ${what} though nothing runs`);
  }
  await judgeAlarms(reader);
  const failing = (await reader.host.rows('SELECT name FROM sweeps WHERE failures > 0')) as { name: string }[];
  reader.expect(failing.length === 0, () => `sweeps go on failing: ${failing.map(({ name }) => name).join(', ')}`);
}
