import { Authenticator } from '../people/authenticator.ts';
import { App } from '../people/authenticator-app.ts';
import { addApp, addPasskey, beginPasskey, stepUpWith } from '../people/factors.ts';
import type { World } from '../world.ts';
import type { Write } from './optional-writes.ts';

/** Writes of factors, each by a person of its own. */
export function factorWrites(w: World): Record<string, () => Promise<Write>> {
  const count = async (what: string, ...bindings: unknown[]): Promise<number> =>
    (await w.env.DB.prepare(`SELECT count(*) AS n FROM ${what}`)
      .bind(...bindings)
      .first<number>('n'))!;
  const pending = async () => {
    const { token, userId } = await w.merchant();
    const { secret } = (await w.call('POST', '/v1/account/totp', { key: token })).body;
    return { token, userId, app: new App(secret) };
  };
  const withApp = async () => {
    const { token, userId } = await w.merchant();
    const { app } = await addApp(w, token);
    return { userId, token: await stepUpWith(w, token, { totp: app.code() }) };
  };
  return {
    'POST /v1/account/passkeys': async () => {
      const { token, userId } = await w.merchant();
      const { ceremony_id, options } = await beginPasskey(w, token);
      const body = { ceremony_id, response: await new Authenticator().create(options) };
      const effects = () => count('passkeys WHERE person_id = ?', userId);
      return { path: '/v1/account/passkeys', by: token, body, other: { ...body, name: 'Laptop' }, effects };
    },
    'PATCH /v1/account/passkeys/{passkey_id}': async () => {
      const { token } = await w.merchant();
      const { passkey } = await addPasskey(w, token);
      const effects = () => count("passkeys WHERE id = ? AND name = 'Laptop'", passkey.passkey_id);
      const path = `/v1/account/passkeys/${passkey.passkey_id}`;
      return { method: 'PATCH', path, by: token, body: { name: 'Laptop' }, other: { name: 'Phone' }, effects };
    },
    'DELETE /v1/account/passkeys/{passkey_id}': async () => {
      const { token, userId } = await withApp();
      const { passkey } = await addPasskey(w, token);
      const effects = async () => 1 - (await count('passkeys WHERE person_id = ?', userId));
      return { method: 'DELETE', path: `/v1/account/passkeys/${passkey.passkey_id}`, by: token, effects };
    },
    'POST /v1/account/totp': async () => {
      const { token, userId } = await w.merchant();
      return { path: '/v1/account/totp', by: token, effects: () => count('totp_secrets WHERE person_id = ?', userId) };
    },
    'POST /v1/account/totp/confirm': async () => {
      const { token, userId, app } = await pending();
      const effects = () => count('totp_secrets WHERE person_id = ? AND confirmed_at IS NOT NULL', userId);
      return { path: '/v1/account/totp/confirm', by: token, body: { code: app.code() }, other: { code: app.wrong() }, effects };
    },
    'DELETE /v1/account/totp': async () => {
      const { token, userId } = await withApp();
      const effects = async () => 1 - (await count('totp_secrets WHERE person_id = ?', userId));
      return { method: 'DELETE', path: '/v1/account/totp', by: token, effects };
    },
    'POST /v1/account/recovery-codes': async () => {
      const { token, userId } = await withApp();
      const known = await w.env.DB.prepare('SELECT hash FROM recovery_codes WHERE person_id = ?').bind(userId).first<string>('hash');
      const effects = async () => 1 - (await count('recovery_codes WHERE person_id = ? AND hash = ?', userId, known));
      return { path: '/v1/account/recovery-codes', by: token, effects };
    },
  };
}
