import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '#core/encoding.ts';
import { dumpTable } from '../../support/fixtures/database-dump.ts';
import { OPERATOR_SECRET, openStaff } from '../../support/people/staff.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('long support thread', () => {
  const w = new World({ OPERATOR_SECRET });
  let ada: Merchant;
  let staff: Merchant;
  const opened = async (): Promise<string> =>
    (await w.call('POST', '/v1/support/tickets', { key: ada.key, body: { subject: 'A question', body: 'message 0' } })).body.ticket_id;
  const read = (id: string, before = '', key = ada.key) =>
    w.call('GET', `/v1/support/tickets/${id}${before && `?before=${before}`}`, { key });
  const act = (id: string, how: string, body: object | undefined, idempotencyKey: string, key = ada.key) =>
    w.call('POST', `/v1/support/tickets/${id}/${how}`, { key, ...(body ? { body } : {}), headers: { 'Idempotency-Key': idempotencyKey } });
  /** Adds messages, two per millisecond, as if written over weeks. */
  const lengthen = async (id: string, count: number, text: (i: number) => string) => {
    const insert = testEnv.DB.prepare(
      'INSERT INTO support_messages (id, ticket_id, author, author_id, body, created_at, written_at) VALUES (?, ?, ?, ?, ?, ?, 0)',
    );
    const at = (i: number) => 1_700_000_000_000 + (i >> 1);
    const first = testEnv.DB.prepare('UPDATE support_messages SET created_at = ? WHERE ticket_id = ?').bind(at(0), id);
    const rows = Array.from({ length: count }, (_, i) =>
      insert.bind(crypto.randomUUID(), id, 'merchant', 'elsewhere', text(i + 1), at(i + 1)),
    );
    await testEnv.DB.batch([first, ...rows]);
  };
  const bodiesOf = ({ messages }: Body): string[] => messages.map(({ body }: Body) => body);

  beforeAll(async () => {
    ada = await w.merchant();
    staff = await openStaff(w);
  });

  it('merchant and staff read every message once and in order, page by page', async () => {
    const id = await opened();
    await lengthen(id, 120, (i) => `message ${i}`);
    for (const key of [ada.key, staff.token]) {
      let { body } = await read(id, '', key);
      const pages: string[][] = [bodiesOf(body)];
      while (body.messages_before !== undefined) {
        ({ body } = await read(id, body.messages_before, key));
        pages.unshift(bodiesOf(body));
      }
      expect(pages.map(({ length }) => length)).toEqual([21, 50, 50]);
      expect(pages.flat()).toEqual(Array.from({ length: 121 }, (_, i) => `message ${i}`));
    }
  });

  it('a page before a message of another ticket is empty, and a malformed id gets 422', async () => {
    const [one, other] = [await opened(), await opened()];
    const [{ message_id }] = (await read(other)).body.messages;
    const { status, body } = await read(one, message_id);
    expect([status, body.messages, 'messages_before' in body]).toEqual([200, [], false]);
    expect((await read(one, 'no-id')).status).toBe(422);
  });

  it('writes return only the newest messages, and a replay under the key returns the same answer', async () => {
    const id = await opened();
    await lengthen(id, 60, () => '🙂'.repeat(5000));
    for (const [how, body, key, who] of [
      ['message', { body: '√'.repeat(10_000) }, 'long-message', ada.key],
      ['resolve', undefined, 'long-resolve', staff.token],
      ['close', undefined, 'long-close', ada.key],
    ] as const) {
      const first = await act(id, how, body, key, who);
      expect(first.status).toBe(200);
      expect(first.body.messages.length).toBeLessThanOrEqual(6);
      expect(first.body.messages.at(-1).body).toBe('√'.repeat(10_000));
      expect((await act(id, how, body, key, who)).body).toEqual(first.body);
    }
    const answers = await dumpTable(testEnv.DB, 'claims', "scope LIKE '%/support/tickets/%'");
    const longest = Math.max(...answers.map(({ body }) => utf8(body as string).length));
    expect(longest).toBeGreaterThan(30_000);
    expect(longest).toBeLessThan(256 * 1024);
  });
});
