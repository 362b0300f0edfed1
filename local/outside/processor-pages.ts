import { type Said, say } from './http.ts';
import { newId, now, type ProcessorAccount, type Session } from './subscriptions.ts';

export const refusal = (status: number, message: string, more: { type?: string; code?: string; param?: string } = {}): Said =>
  say(status, { error: { type: status >= 500 ? 'api_error' : 'invalid_request_error', message, ...more } });
export const noCustomer = (status: number, id: string | undefined): Said =>
  refusal(status, `No such customer: '${id}'`, { code: 'resource_missing', param: status === 404 ? 'id' : 'customer' });
export const nestedOf = (form: Record<string, string>, name: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(form).flatMap(([key, value]) => (key.startsWith(`${name}[`) ? [[key.slice(name.length + 1, -1), value] as const] : [])),
  );

export const isCustomer = ({ customers }: ProcessorAccount, id: string | undefined): id is string =>
  id !== undefined && customers.get(id) !== undefined && !customers.get(id)!.deleted;

const pageOf = ({ id, customer, status, shown }: Session) => ({
  id,
  object: 'checkout.session',
  mode: 'subscription',
  customer,
  status,
  ...shown,
});

export const pagesOf = ({ sessions, apiKey }: ProcessorAccount, customer: string, origin: string) =>
  [...sessions.values()]
    .filter((session) => session.id.startsWith('cs_') && session.customer === customer)
    .map((session) => ({ ...pageOf(session), url: session.status === 'open' ? `${origin}/pay/${apiKey}/${session.id}` : null }))
    .toReversed();

export function expireCheckout({ sessions }: ProcessorAccount, id: string): Said {
  const session = sessions.get(id);
  if (!session) return refusal(404, `No such checkout.session: '${id}'`, { code: 'resource_missing', param: 'session' });
  if (session.status !== 'open') return refusal(400, 'Only Checkout Sessions with a status in ["open"] can be expired.');
  session.status = 'expired';
  return say(200, pageOf(session));
}

export function openCheckout(account: ProcessorAccount, form: Record<string, string>, origin: string): Said {
  const price = form['line_items[0][price]'];
  if (!isCustomer(account, form.customer)) return noCustomer(400, form.customer);
  if (form.mode !== 'subscription') return refusal(400, 'No such mode');
  if (price === undefined || !account.prices.has(price))
    return refusal(400, `No such price: '${price}'`, { code: 'resource_missing', param: 'line_items[0][price]' });
  if (!form.success_url?.startsWith('http')) return refusal(400, 'Not a valid URL');
  const metadata = nestedOf(form, 'subscription_data[metadata]');
  const shown = {
    created: now(),
    success_url: form.success_url,
    cancel_url: form.cancel_url ?? null,
    metadata: nestedOf(form, 'metadata'),
  };
  return openSession(account, { customer: form.customer, price, changes: null, back: form.success_url, metadata, shown }, origin, 'cs');
}

export function openPortal(account: ProcessorAccount, form: Record<string, string>, origin: string): Said {
  if (!isCustomer(account, form.customer)) return noCustomer(400, form.customer);
  // Like Stripe: a configuration created through the API is never the default, and the dashboard was never opened.
  if (!account.configurations.has(form.configuration ?? '')) return refusal(400, 'No configuration provided, and no default one exists');
  const changes = form['flow_data[subscription_update_confirm][subscription]'] ?? null;
  const price = form['flow_data[subscription_update_confirm][items][0][price]'] ?? '';
  const changed = account.subscriptions.find(({ id }) => id === changes);
  if (changes !== null && changed?.items.data[0]?.price.id === price) return refusal(400, 'The update changes nothing');
  const back = form.return_url ?? origin;
  const shown = { created: now(), success_url: back, cancel_url: null, metadata: {} };
  return openSession(account, { customer: form.customer, price, changes, back, metadata: {}, shown }, origin, 'bps');
}

function openSession(account: ProcessorAccount, session: Omit<Session, 'id' | 'status'>, origin: string, kind: string): Said {
  const id = newId(kind);
  account.sessions.set(id, { id, status: 'open', ...session });
  return say(200, {
    id,
    object: kind === 'cs' ? 'checkout.session' : 'billing_portal.session',
    url: `${origin}/pay/${account.apiKey}/${id}`,
  });
}
