import type { Body } from './host.ts';
import type { Books } from './payments.ts';
import type { Reader } from './reader.ts';

/** Time in which a membership must end after it is over: the next crons. */
const ENDING_MS = 10 * 60_000;
const LASTING = ['active', 'grace'];

const endOf = ({ expires_at }: Body): number => Date.parse(expires_at);

/** Memberships that last, and have an end. Those of subscriptions renew by themselves, and have laws of their own. */
async function listLasting(reader: Reader, books: readonly Books[]): Promise<Body[]> {
  const lasting: Body[] = [];
  for (const { livemode, key } of books) {
    const listed = livemode ? await reader.list('/v1/memberships', key) : [];
    const fits = ({ status, expires_at, authorization_id }: Body) =>
      LASTING.includes(status) && expires_at !== null && authorization_id === undefined;
    lasting.push(...listed.filter(fits));
  }
  return lasting;
}

/** Lets the time pass that memberships were paid for, and judges that none lasts longer. Nothing can be judged afterwards. */
export async function judgeMemberships(reader: Reader, books: readonly Books[]): Promise<void> {
  const { host } = reader;
  const bought = await listLasting(reader, books);
  if (bought.length === 0) return;
  // The first end, not the last: one membership that lasts shows that none ends.
  const end = Math.min(...bought.map(endOf));
  await host.advance(Math.max(0, end - host.now()) + ENDING_MS / 2);
  await host.settle();
  await host.advance(ENDING_MS);
  await host.settle();
  for (const one of await listLasting(reader, books))
    reader.expect(endOf(one) > host.now() - ENDING_MS, () => `membership ${one.membership_id} is ${one.status} after its end`);
}
