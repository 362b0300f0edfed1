import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addApp, addPasskey, stepUpWith } from '../../../support/people/factors.ts';
import { letTimeRun, setTime } from '../../../support/runner/clock.ts';
import { emailedToken, MailWorld } from '../../../support/servers/mail.ts';
import type { Body, Merchant } from '../../../support/world.ts';

let w: MailWorld;
let ada: Merchant;
beforeEach(async () => {
  w = new MailWorld();
  ada = await w.merchant();
  const token = await emailedToken(w, ada.userId, 'verify');
  expect((await w.call('POST', '/v1/account/email/verify', { body: { token } })).status).toBe(200);
});
afterEach(letTimeRun);

/** Texts of the emails to the merchant, in the order of their changes. */
async function emailed(): Promise<string[]> {
  for (const message of w.mail.splice(0)) await w.post([message]);
  return (await w.posted()).taken.filter(({ body }) => body.to[0] === ada.email).map(({ body }) => `${body.subject} ${body.text}`);
}

describe('emails about factors', () => {
  it('each change of a factor is emailed to the verified address, without a secret', async () => {
    const { app, codes } = await addApp(w, ada.token);
    const token = await stepUpWith(w, ada.token, { recovery_code: codes![0] });
    const { passkey } = await addPasskey(w, token);
    const renewed = await w.call('POST', '/v1/account/recovery-codes', { key: token });
    expect((await w.call('DELETE', `/v1/account/passkeys/${passkey.passkey_id}`, { key: token })).status).toBe(204);
    expect((await w.call('DELETE', '/v1/account/totp', { key: token })).status).toBe(204);
    const texts = await emailed();
    expect(texts).toEqual([
      expect.stringContaining('An authenticator app was added'),
      expect.stringContaining('Codes left: 9'),
      expect.stringContaining(`A passkey was added to your account: ${passkey.name}`),
      expect.stringContaining('New recovery codes were created'),
      expect.stringContaining(`A passkey was removed from your account: ${passkey.name}`),
      expect.stringContaining('The authenticator app was removed'),
    ]);
    for (const secret of [...codes!, ...renewed.body.recovery_codes, app.code()]) expect(texts.join()).not.toContain(secret);
  });

  it('a counter that goes back is emailed and recorded, at a sign-in and at a step-up', async () => {
    const { device, passkey } = await addPasskey(w, ada.token);
    const logInWithPasskey = async (counter: number) => {
      setTime(Date.now() + 60_000);
      const { ceremony_id, options } = (await w.call('POST', '/v1/auth/passkey/options')).body;
      return w.call('POST', '/v1/auth/passkey', { body: { ceremony_id, response: await device.get(options, { counter }) } });
    };
    const signIn = async (counter: number) => (await logInWithPasskey(counter)).status;
    expect([await signIn(5), await signIn(4), await signIn(6)]).toEqual([200, 401, 200]);
    const suspects = (await emailed()).filter((text) => text.includes('may be copied'));
    expect(suspects).toEqual([expect.stringContaining(passkey.name)]);
    const { token } = (await logInWithPasskey(7)).body;
    const { ceremony_id, options } = (await w.call('POST', '/v1/auth/step-up/options', { key: token })).body;
    const body = { ceremony_id, response: await device.get(options, { counter: 7 }) };
    expect((await w.call('POST', '/v1/auth/step-up', { key: token, body })).status).toBe(401);
    const { items } = (await w.call('GET', '/v1/account/audit-log?action=person.passkey_suspected', { key: ada.token })).body;
    expect(items.map(({ outcome, actor }: Body) => [outcome, actor.id ?? null])).toEqual([
      ['refused', ada.userId],
      ['refused', null],
    ]);
  });
});
