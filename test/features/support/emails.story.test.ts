import { beforeEach, describe, expect, it } from 'vitest';
import { HOUR } from '#core/time.ts';
import { OPERATOR_SECRET, openStaff } from '../../support/people/staff.ts';
import { testEnv } from '../../support/runner/env.ts';
import { emailedToken, MailWorld } from '../../support/servers/mail.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('support ticket emails', () => {
  let w: MailWorld;
  let ada: Merchant;
  let staff: Merchant;

  const verify = async ({ userId }: Merchant) => {
    const body = { token: await emailedToken(w, userId, 'verify') };
    expect((await w.call('POST', '/v1/account/email/verify', { body })).status).toBe(200);
  };
  beforeEach(async () => {
    w = new MailWorld({ OPERATOR_SECRET });
    await testEnv.DB.prepare('UPDATE persons SET is_staff = 0').run();
    [ada, staff] = [await w.merchant(), await openStaff(w)];
    await verify(ada);
    await verify(staff);
    await testEnv.DB.prepare('DELETE FROM mails').run();
  });

  const done = async (answer: ReturnType<MailWorld['call']>): Promise<Body> => {
    const { status, body } = await answer;
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };
  const open = async (key = ada.key): Promise<string> =>
    (await done(w.call('POST', '/v1/support/tickets', { key, body: { subject: 'Ada’s question', body: 'How does it work?' } }))).ticket_id;
  const write = (id: string, body: string, key: string) =>
    done(w.call('POST', `/v1/support/tickets/${id}/message`, { key, body: { body } }));
  const move = (id: string, how: 'close' | 'resolve', key: string) => done(w.call('POST', `/v1/support/tickets/${id}/${how}`, { key }));
  const arrived = async () => {
    await w.post();
    const { taken } = await w.posted();
    const to = ({ email }: Merchant) => taken.filter(({ body }) => body.to[0] === email).map(({ body }) => body);
    return { ada: to(ada), staff: to(staff) };
  };
  const rows = async () => (await w.rows()).map(({ template, account_id: reader }) => [template, reader === ada.userId ? 'ada' : 'staff']);

  it('staff get the owner’s actions, the owner gets those of staff, and no author gets their own', async () => {
    const id = await open();
    await write(id, 'Like <b>this</b>.', staff.token);
    await write(id, 'And then?', ada.key);
    await move(id, 'resolve', staff.token);
    await move(id, 'resolve', staff.token);
    await move(id, 'close', staff.token);
    expect(await rows()).toEqual([
      ['ticket_asked', 'staff'],
      ['ticket_answered', 'ada'],
      ['ticket_asked', 'staff'],
      ['ticket_resolved', 'ada'],
      ['ticket_closed', 'ada'],
    ]);
    const second = await open();
    await move(second, 'close', ada.key);
    expect((await rows()).slice(-2)).toEqual([
      ['ticket_asked', 'staff'],
      ['ticket_closed', 'staff'],
    ]);
    const { ada: own, staff: theirs } = await arrived();
    expect(own.map(({ subject }) => subject).sort()).toEqual([
      'Closed: Ada’s question',
      'Resolved: Ada’s question',
      'Support answered: Ada’s question',
    ]);
    expect(own.find(({ subject }) => subject.startsWith('Support'))!.text).toContain('> Like <b>this</b>.');
    expect(theirs).toHaveLength(4);
    // A merchant's text is erased with the account, so no email to another account contains it.
    expect(JSON.stringify(theirs)).not.toMatch(/Ada’s question|How does it work|And then/);
    expect(theirs.filter(({ text }) => text.includes(id))).toHaveLength(2);
  });

  it('other staff get the actions of a staff member on an own ticket, with resolved and closed distinct', async () => {
    const other = await openStaff(w);
    await verify(other);
    await testEnv.DB.prepare('DELETE FROM mails').run();
    const id = await open(staff.token);
    await move(id, 'resolve', staff.token);
    await move(id, 'close', staff.token);
    expect((await w.rows()).map(({ template, account_id: reader }) => [template, reader])).toEqual(
      ['ticket_asked', 'ticket_resolved', 'ticket_closed'].map((template) => [template, other.userId]),
    );
    await w.post();
    const { taken } = await w.posted();
    expect(taken.map(({ body }) => body.subject).sort()).toEqual([
      'A support ticket waits for an answer',
      `Closed: ${id}`,
      `Resolved: ${id}`,
    ]);
  });

  it('emails use the language of the reader', async () => {
    await done(w.call('PATCH', '/v1/account/me', { key: ada.token, body: { locale: 'de' } }));
    const id = await open();
    await write(id, 'So.', staff.token);
    expect((await arrived()).ada.map(({ subject }) => subject)).toEqual(['Antwort vom Support: Ada’s question']);
  });

  it('a replayed message sends one email, and a refused message none', async () => {
    const id = await open();
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const send = () => w.call('POST', `/v1/support/tickets/${id}/message`, { key: staff.token, body: { body: 'So.' }, headers });
    expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
    await move(id, 'close', ada.key);
    expect((await w.call('POST', `/v1/support/tickets/${id}/message`, { key: staff.token, body: { body: 'No.' } })).status).toBe(409);
    expect((await rows()).filter(([template]) => template === 'ticket_answered')).toHaveLength(1);
  });

  it('one reader gets at most ten emails an hour from any number of authors, and more in the next hour', async () => {
    const bob = await w.merchant();
    for (const { key } of [ada, bob]) {
      const id = await open(key);
      for (let index = 0; index < 7; index++) await write(id, `Message ${index}`, key);
    }
    expect(await rows()).toHaveLength(10);
    await testEnv.DB.prepare(`UPDATE mails SET created_at = created_at - ${HOUR + 1}`).run();
    await open();
    expect(await rows()).toHaveLength(11);
  });

  it('unverified addresses, deleted accounts, the sandbox and a service without email get none', async () => {
    const bob = await w.merchant();
    const unproven = await open(bob.key);
    await write(unproven, 'So.', staff.token);
    const gone = await open();
    expect((await w.call('DELETE', '/v1/account/account', { key: ada.token })).status).toBe(200);
    await w.call('POST', `/v1/support/tickets/${gone}/message`, { key: staff.token, body: { body: 'So.' } });
    expect((await rows()).map(([template]) => template)).toEqual(['ticket_asked', 'ticket_asked']);
    const sandbox = await open(bob.sandboxKey);
    await write(sandbox, 'And?', bob.sandboxKey);
    const silent = new World({ OPERATOR_SECRET });
    await silent.call('POST', '/v1/support/tickets', { key: bob.key, body: { subject: 'A question', body: 'Why?' } });
    expect(await rows()).toHaveLength(2);
    expect((await arrived()).ada).toEqual([]);
  });

  it('twenty staff at most get an email, and the query reads only staff rows', async () => {
    for (let index = 0; index < 22; index++) await verify(await openStaff(w));
    await testEnv.DB.prepare('DELETE FROM mails').run();
    await open();
    expect(await rows()).toHaveLength(20);
    const { results } = await testEnv.DB.prepare(
      `EXPLAIN QUERY PLAN SELECT p.id FROM persons p JOIN accounts a ON a.id = p.id WHERE is_staff = 1 AND status = 'active' AND email_verified = 1 AND email IS NOT NULL ORDER BY p.id LIMIT 20`,
    ).all<{ detail: string }>();
    expect(results.map(({ detail }) => detail).join()).toContain('persons_staff');
  });
});
