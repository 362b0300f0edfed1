import type { Merchant, World } from '../world.ts';
import { Authenticator } from './authenticator.ts';
import { App } from './authenticator-app.ts';

type Options = { key?: string; body?: object; headers?: Record<string, string>; env?: World['env'] };

/** Sets up an authenticator app. `at`: instant of the code that confirms it and uses up its step, if not the step before. */
export async function addApp(w: World, token: string, at?: number): Promise<{ app: App; codes: string[] | undefined }> {
  const begun = await w.call('POST', '/v1/account/totp', { key: token });
  if (begun.status !== 201) throw new Error(JSON.stringify(begun.body));
  const app = new App(begun.body.secret);
  const code = at === undefined ? await app.codeBefore() : app.code(at);
  const confirmed = await w.call('POST', '/v1/account/totp/confirm', { key: token, body: { code } });
  if (confirmed.status !== 200) throw new Error(JSON.stringify(confirmed.body));
  return { app, codes: confirmed.body.recovery_codes };
}

export const beginPasskey = async (w: World, token: string) => (await w.call('POST', '/v1/account/passkeys/options', { key: token })).body;

/** Registers a passkey of a new authenticator. */
export async function addPasskey(w: World, token: string, device = new Authenticator()) {
  const { ceremony_id, options } = await beginPasskey(w, token);
  const response = await device.create(options);
  const { status, body } = await w.call('POST', '/v1/account/passkeys', { key: token, body: { ceremony_id, response } });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return { device, passkey: body.passkey, codes: body.recovery_codes as string[] | undefined };
}

export const logInAgain = (w: World, { email }: Pick<Merchant, 'email'>, options: Options = {}) =>
  w.call('POST', '/v1/auth/login', { ...options, body: { email, password: 'correct horse battery' } });

/** Ticket of a sign-in by password. */
export async function newTicket(w: World, merchant: Pick<Merchant, 'email'>): Promise<string> {
  const { status, body } = await logInAgain(w, merchant);
  if (status !== 401 || body.code !== 'factor_required') throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.meta.ticket;
}

/** Token of the same session with a proof of now. */
export async function stepUpWith(w: World, token: string, body: object): Promise<string> {
  const answer = await w.call('POST', '/v1/auth/step-up', { key: token, body });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.token;
}
