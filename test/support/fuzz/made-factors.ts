import { openBrowser } from '../clients/oauth.ts';
import { tokenSignedIn } from '../clients/session.ts';
import { Authenticator } from '../people/authenticator.ts';
import { App } from '../people/authenticator-app.ts';
import { addApp, addPasskey, beginPasskey, newTicket, stepUpWith } from '../people/factors.ts';
import type { Tenant } from '../people/tenant.ts';
import { verifyAddress } from '../servers/mail.ts';
import type { World } from '../world.ts';

type Maker = (w: World, tenant: Tenant) => Promise<Record<string, string[]>>;

/** Routes that change factors or end sessions. Each has a person of its own, so that the others retain theirs. */
export const CHANGES_PERSON = /\/account\/(?:sessions|passkeys|totp|recovery-codes)|\/auth\/(?:login|logout|step-up)/;

/** Fields of a passkey's response by name. */
const fieldsOf = ({ ceremony_id, response }: { ceremony_id: string; response: { id: string; response: object } }) => ({
  ...{ ceremony_id: [ceremony_id], id: [response.id], rawId: [response.id] },
  ...Object.fromEntries(Object.entries(response.response).map(([name, value]) => [name, [String(value)]])),
});

/** Gives the person an authenticator app, and the session a proof of it. */
async function prove(w: World, { merchant }: Tenant): Promise<App> {
  const { app } = await addApp(w, merchant.token);
  merchant.token = await stepUpWith(w, merchant.token, { totp: app.code() });
  return app;
}

export const FACTOR_MAKERS: [RegExp, Maker][] = [
  [
    /POST .*account\/passkeys$/,
    async (w, { merchant }) => {
      const { ceremony_id, options } = await beginPasskey(w, merchant.token);
      return fieldsOf({ ceremony_id, response: await new Authenticator().create(options) });
    },
  ],
  [
    /account\/passkeys\/\{/,
    async (w, tenant) => {
      await prove(w, tenant);
      return { passkey_id: [(await addPasskey(w, tenant.merchant.token)).passkey.passkey_id] };
    },
  ],
  [
    /totp\/confirm$/,
    async (w, { merchant }) => ({
      code: [new App((await w.call('POST', '/v1/account/totp', { key: merchant.token })).body.secret).code()],
    }),
  ],
  [
    /recovery-codes$/,
    async (w, tenant) => {
      await prove(w, tenant);
      return {};
    },
  ],
  [
    /step-up\/options$/,
    async (w, { merchant }) => {
      await addPasskey(w, merchant.token);
      return {};
    },
  ],
  [/step-up$/, async (w, { merchant }) => ({ totp: [(await addApp(w, merchant.token)).app.code()] })],
  [
    /auth\/passkey$/,
    async (w) => {
      const { device } = await addPasskey(w, (await w.merchant()).token);
      const { ceremony_id, options } = (await w.call('POST', '/v1/auth/passkey/options')).body;
      return fieldsOf({ ceremony_id, response: await device.get(options) });
    },
  ],
  [
    /auth\/factor$/,
    async (w) => {
      const person = await w.merchant();
      const { app } = await addApp(w, person.token);
      return { ticket: [await newTicket(w, person)], totp: [app.code()] };
    },
  ],
  [
    /oauth\/join$/,
    async (w) => {
      const person = await w.merchant();
      await verifyAddress(w, person);
      const { browser, ada } = await openBrowser(w, 'google');
      await browser.is({ ...ada, email: person.email });
      return { ticket: [(await browser.signIn()).outcome.ticket!], password: ['correct horse battery'] };
    },
  ],
  [
    /account\/sessions\/\{/,
    async (w, { merchant }) => {
      await tokenSignedIn(w, merchant.userId, 1);
      const { items } = (await w.call('GET', '/v1/account/sessions', { key: merchant.token })).body;
      return { session_id: [items.find(({ current }: { current: boolean }) => !current).session_id] };
    },
  ],
];
