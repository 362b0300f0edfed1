import { newId } from '#core/ids.ts';
import type { PaidPlan } from '#rules/plans.ts';
import { cancelInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { USDC } from '../chain/chain.ts';
import { askNonce, signText } from '../chain/wallet.ts';
import { credential, MeteredShop } from '../clients/metered.ts';
import { runScenario } from '../clients/sandbox.ts';
import { tokenSignedIn } from '../clients/session.ts';
import { landRefund, refundable } from '../fixtures/refund.ts';
import { newSpender, openTreasury, payFor } from '../people/activation.ts';
import { newAgent, newKey, sellToAgents, write } from '../people/agent.ts';
import { Setup } from '../people/bootstrap.ts';
import { setOrigins } from '../people/listed-shop.ts';
import { SubscriptionBuyer } from '../people/subscription-buyer.ts';
import { SubscriptionShop } from '../people/subscription-shop.ts';
import { addMember, inviteTo, newHeir } from '../people/team.ts';
import type { Tenant } from '../people/tenant.ts';
import { CONNECTOR_SECRETS } from '../runner/env.ts';
import { emailedToken } from '../servers/mail.ts';
import type { World } from '../world.ts';
import { BUYER_MAKERS } from './made-buyers.ts';
import { FACTOR_MAKERS } from './made-factors.ts';
import { PEOPLE_MAKERS } from './made-people.ts';

/** Values by field or parameter name. The first values belong together and form a request that succeeds. */
export type Made = Record<string, string[]>;

/** Makes the objects of a route that not every tenant has. */
export async function madeFor(w: World, name: string, tenant: Tenant): Promise<Made> {
  const [, maker] = MAKERS.find(([route]) => route.test(name)) ?? [];
  return maker ? maker(w, tenant, name) : {};
}

const MAKERS: [RegExp, (w: World, tenant: Tenant, name: string) => Promise<Made>][] = [
  ...FACTOR_MAKERS,
  ...BUYER_MAKERS,
  ...PEOPLE_MAKERS,
  [/subscription-plan/, makePlan],
  [/^PATCH .*\/keys\/\{/, makeSandboxKey],
  [/native-subscriptions/, makeAuthorization],
  [/metered-sessions|__402/, makeMetered],
  [/testing\/sign-in$/, makeSignIn],
  [/\/testing\//, makeTest],
  [/connectors\/\{provider\}\/claims/, makeClaimCode],
  [/delivery\/claims\/\{/, makeClaim],
  [/^(?:GET|DELETE) .*account\/domain/, makeDomain],
  [/refund-/, makeRefund],
  [/\/oauth\/|identities/, async () => ({ provider: ['google', 'github'] })],
  [/billing\/portal/, makeCustomer],
  [/customers\/.*\/merge$/, makeMerge],
  [/\/resolve$/, makeTicket],
  [/activate/, makePlanPayment],
  [/accept-unmatched/, makeSecondPayment],
  [/x402\/(?:openapi|listings\/\{)/, makeListing],
  [/confirm|\/receipt$|\/transaction|solana-pay|x402/, makeUnreported],
  [/\{slug\}\/identity/, makeClub],
  [/automation\/hooks\/\{/, makeHook],
  [/auth\/wallet$/, makeProof],
  [/auth\/login$/, async (_, { merchant }) => ({ email: [merchant.email], password: ['correct horse battery'] })],
  [/auth\/switch$/, async (_, { merchant }) => ({ account_id: [merchant.userId] })],
  [/account\/sessions\/\{/, makeSession],
  [/audit-log\/\{/, readEntry],
  [/webhooks\/events\/\{/, readEvent],
  [/account\/members\/\{/, async (w, { merchant }) => ({ user_id: [(await addMember(w, merchant, 'viewer')).userId] })],
  [/account\/payouts\/disown$/, makePayout],
  [/account\/transfer$/, async (w, { merchant }) => ({ user_id: [(await newHeir(w, 'viewer', merchant)).heir.userId] })],
  [/account\/invitations/, makeInvitation],
  [/email\/verification$/, makeUnverified],
  [/^POST \/v1\/invitations\//, makeInvited],
  [/me\/security/, async () => ({ current_password: ['correct horse battery'] })],
  [/password\/forgot/, async (_, { merchant }) => ({ email: [merchant.email] })],
  [/email\/(?:verify|preview|disown)$|password\/reset|email-link$/, makeEmailToken],
  [/send-proof/, makeSender],
  [/approve/, makeReady],
  [/handoff\/\{token\}/, makeHandOff],
];

async function makeSession(w: World, { merchant }: Tenant): Promise<Made> {
  await tokenSignedIn(w, merchant.userId, 1);
  const { items } = (await w.call('GET', '/v1/account/sessions', { key: merchant.token })).body;
  return { session_id: [items.find(({ current }: { current: boolean }) => !current).session_id] };
}

/** Another wallet, so that later routes find the tenant's own one known. */
async function makePayout(w: World, { merchant }: Tenant): Promise<Made> {
  const { address } = await w.chain.wallet(0n);
  const headers = { 'Idempotency-Key': newKey() };
  await w.call('PUT', '/v1/access/rail-settings/solana_sol', { key: merchant.token, body: { payout_wallet: address }, headers });
  return { wallet_address: [address] };
}

async function readEntry(w: World, { merchant }: Tenant): Promise<Made> {
  const modes = ['live', 'sandbox'].map((mode) => w.call('GET', `/v1/account/audit-log?mode=${mode}`, { key: merchant.token }));
  const pages = await Promise.all(modes);
  return { entry_id: pages.flatMap(({ body }) => body.items.slice(0, 1).map((entry: { entry_id: string }) => entry.entry_id)) };
}

async function readEvent(w: World, { merchant }: Tenant): Promise<Made> {
  const { body } = await w.call('GET', '/v1/webhooks/events?per_page=1', { key: merchant.key });
  return { event_id: body.items.map(({ id }: { id: string }) => id) };
}

async function makeSandboxKey(w: World, { merchant }: Tenant): Promise<Made> {
  const { body } = await w.call('POST', '/v1/keys', { key: merchant.token, body: { name: 'changed', sandbox_mode: true } });
  return { key_id: [body.key.id] };
}

async function makeUnreported(w: World, { merchant }: Tenant, name: string): Promise<Made> {
  const { product_id, slug } = await sellToAgents(w, merchant, { access_period_days: 30 });
  const buyer = await newAgent(w);
  const body = { product_id, customer: { wallet_address: buyer.wallet.address } };
  const headers = { 'Idempotency-Key': newKey() };
  const denied = await w.call('POST', '/v1/access/entitlements/consume', { key: merchant.key, body, headers });
  const [bill, other] = [await w.connect({ slug }, { wallet_address: buyer.wallet.address }), await w.connect({ slug })];
  const paid = await w.chain.pay(buyer.wallet, other);
  return {
    product_id: [product_id],
    // Unsigned payment first for signing routes, paid one first for others.
    payment_id: /transaction|solana-pay/.test(name) ? [bill.payment_id, other.payment_id] : [other.payment_id, bill.payment_id],
    account: [buyer.wallet.address],
    transaction: [await w.chain.sign(buyer.wallet, bill.transaction), bill.transaction],
    tx_signature: [paid],
    tx_sig: [paid],
    payment_signature: [await buyer.pay(denied.headers.get('PAYMENT-REQUIRED')!)],
  };
}

async function makeHandOff(w: World, { merchant }: Tenant): Promise<Made> {
  const { product_id, slug } = await w.product(merchant, { access_period_days: 30 });
  const headers = { 'Idempotency-Key': newKey() };
  const { body } = await w.call('POST', `/v1/products/${product_id}/handoffs`, {
    key: merchant.key,
    body: { customer_ref: 'known' },
    headers,
  });
  return { slug: [slug], handoff_token: [body.handoff_token] };
}

async function makePlan(w: World, { merchant }: Tenant, name: string): Promise<Made> {
  const shop = await SubscriptionShop.open(w, {}, merchant);
  const made = { product_id: [shop.product.product_id] };
  if (!name.endsWith('/confirm')) return made;
  const wire = await w.chain.sign(shop.wallet, (await shop.preparePlan()).body.transaction);
  return { ...made, tx_signature: [await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' })] };
}

/** Subscribed buyer who has also cancelled, if the route reports that. */
async function makeAuthorization(w: World, { merchant }: Tenant, name: string): Promise<Made> {
  const buyer = await SubscriptionBuyer.connect(await SubscriptionShop.openPublished(w, {}, merchant));
  await buyer.signAll();
  const made = { authorization_id: [buyer.bill.subscription.authorization_id], wallet_address: [buyer.wallet.address] };
  // A subscription can be stopped only after its first period is paid.
  if (name.endsWith('/stop'))
    await w.env.DB.prepare("UPDATE subscription_authorizations SET status = 'active', started_at = 1, version = version + 1 WHERE id = ?")
      .bind(made.authorization_id[0])
      .run();
  if (!name.endsWith('/cancel-confirm')) return made;
  const subscriber = await buyer.onChain();
  return { ...made, tx_signature: [await subscriber.send(cancelInstruction(subscriber.route))] };
}

async function makeMetered(w: World, { merchant }: Tenant, name: string): Promise<Made> {
  const { product_id } = await sellToAgents(w, merchant, { price: { asset: 'USDC', amount: '1' } });
  const shop = await MeteredShop.open(w, { merchant });
  const { body } = await shop.announce('40');
  const voucher = shop.buyer.voucher(20n, { expiresAt: 0 });
  return {
    session_id: [shop.session.session_id],
    // The merchant gives the amount in USDC, the buyer's client in base units.
    ...(name.endsWith('/{session_id}/deliveries') && { amount: ['0.001'] }),
    sessionId: [shop.buyer.channelId],
    deliveryId: [body.deliveryId],
    product_id: [product_id],
    channelId: [voucher.data.channelId],
    cumulativeAmount: [voucher.data.cumulativeAmount],
    signature: [voucher.signature],
    authorization: [credential(shop.session.challenge.header, { action: 'voucher', voucher })],
  };
}

async function makeSecondPayment(w: World, { merchant }: Tenant): Promise<Made> {
  const product = await w.product(merchant, { access_period_days: 30 });
  const buyer = await w.chain.wallet();
  const { payment } = await w.purchase(product, buyer);
  // Differs by one unit, because the chain treats identical bytes as one transaction.
  const second = await w.chain.pay(buyer, payment, { units: BigInt(payment.price.base_units) + 1n });
  await w.confirm(payment.payment_id, second);
  return { payment_id: [payment.payment_id], tx_signature: [second] };
}

async function makeRefund(w: World, { merchant }: Tenant, name: string): Promise<Made> {
  const paid = await refundable(w, merchant);
  return { payment_id: [paid.id], ...(name.endsWith('refund-confirm') ? { tx_signature: [await landRefund(w, merchant, paid)] } : {}) };
}

async function makeCustomer(w: World, { merchant }: Tenant): Promise<Made> {
  await w.call('POST', '/v1/billing/checkout/processor', { key: merchant.token, body: { plan: 'starter' } });
  return {};
}

async function makeMerge(w: World, { merchant: { key } }: Tenant): Promise<Made> {
  const note = async () => (await w.call('POST', '/v1/customers', { key, body: { customer_ref: newKey() } })).body.customer_id as string;
  return { customer_id: [await note()], from: [await note()] };
}

async function makeDomain(w: World, { merchant }: Tenant): Promise<Made> {
  await w.call('PUT', '/v1/account/domain', { key: merchant.token, body: { domain: 'shop.example.com' } });
  // Allows another domain check at once.
  await w.env.DB.prepare('UPDATE seller_domains SET checked_at = 0 WHERE merchant_id = ?').bind(merchant.userId).run();
  return {};
}

async function makeClaimCode(w: World, { merchant }: Tenant): Promise<Made> {
  const { body } = await w.call('POST', '/v1/account/delivery/claims', { key: merchant.key, body: { provider: 'telegram' } });
  return { provider: ['telegram'], code: [body.code], chat_id: [`-${crypto.getRandomValues(new Uint32Array(1))[0]}`] };
}

async function makeClaim(w: World, tenant: Tenant): Promise<Made> {
  const { code, chat_id } = await makeClaimCode(w, tenant);
  const headers = { 'X-Svc-Connector-Secret': CONNECTOR_SECRETS.telegram[0] };
  const body = { code: code![0], chat_id: chat_id![0] };
  const claimed = await w.call('POST', '/v1/integrations/connectors/telegram/claims', { headers, body });
  return { claim_id: [claimed.body.claim_id] };
}

async function makeTicket(w: World, { merchant }: Tenant): Promise<Made> {
  const { body } = await w.call('POST', '/v1/support/tickets', { key: merchant.key, body: { subject: 'A question', body: 'Why?' } });
  return { ticket_id: [body.ticket_id] };
}

async function makePlanPayment(w: World, { merchant }: Tenant, name: string): Promise<Made> {
  await openTreasury(w);
  const plan = name.split('/').at(-1) as PaidPlan;
  return { payment_signature: [await payFor(w, await newSpender(w), plan, { key: merchant.key })] };
}

async function makeClub(w: World, { merchant }: Tenant): Promise<Made> {
  return { slug: [(await w.product(merchant, { requires_identity: 'telegram' })).slug] };
}

/** Challenge of a sandbox shop that offers a sign-in. */
async function makeSignIn(w: World, { merchant }: Tenant): Promise<Made> {
  const seller = { ...merchant, key: merchant.sandboxKey };
  await setOrigins(w, seller, ['https://shop.com']);
  const { product_id } = await w.product(seller, { usage_units: 3 });
  const body = { product_id, customer: { customer_ref: 'nobody' }, resource: { url: 'https://shop.com/a', method: 'GET' } };
  const { headers } = await write(w, seller, 'entitlements/consume', body);
  return { payment_required: [headers.get('PAYMENT-REQUIRED')!], wallet: ['buyer'] };
}

/** Ended session, and a sandbox product with a buyer to identify and one who has yet to pay. */
async function makeTest(w: World, { merchant, sandbox }: Tenant): Promise<Made> {
  const session = await runScenario(w, merchant, 'payment_failed');
  const seller = { ...merchant, key: merchant.sandboxKey };
  const club = await w.product(seller, { requires_identity: 'telegram' });
  const { body } = await w.call('POST', `/v1/products/p/${club.slug}/identity`, { body: {} });
  return {
    session_id: [session.session_id],
    product_id: [sandbox.product_id!],
    endpoint_id: [sandbox.endpoint_id!],
    payment_id: [(await w.connect(await w.product(seller))).payment_id],
    identity_session_id: [body.identity_session_id],
  };
}

/** Listed resource of the merchant's own server. */
async function makeListing(w: World, { merchant }: Tenant): Promise<Made> {
  const id = newId(Date.now(), merchant.userId);
  const origin = `https://${id}.example.com`;
  const shown = { bazaar: {}, accepts: [{ asset: USDC, amount: '10000' }] };
  await w.env.DB.prepare(
    `INSERT INTO listings (id, merchant_id, call, target, resource, origin, shown, good_at, created_at, updated_at)
      VALUES (?1, ?2, 'GET', ?3, ?3, ?4, ?5, ?6, ?6, ?6)`,
  )
    .bind(id, merchant.userId, `${origin}/weather`, origin, JSON.stringify(shown), Date.now())
    .run();
  return { listing_id: [id], origin: [origin] };
}

async function makeHook(w: World, { merchant }: Tenant): Promise<Made> {
  const body = { target_url: 'https://hooks.example.com/x', event_type: '*' };
  return { endpoint_id: [(await w.call('POST', '/v1/integrations/automation/hooks', { key: merchant.key, body })).body.endpoint_id] };
}

async function makeProof(w: World): Promise<Made> {
  const wallet = await w.chain.wallet(0n);
  const { body } = await askNonce(w, wallet.address);
  const signed_message = [await signText(wallet, body.message)];
  return { wallet_address: [wallet.address], message_nonce: [body.message_nonce], signed_message };
}

async function makeSender(w: World, { merchant }: Tenant): Promise<Made> {
  await w.db.run(`UPDATE persons SET email_verified = 1 WHERE id = '${merchant.userId}'` as never);
  return { email: ['grace@example.com'] };
}

async function makeUnverified(w: World, { merchant }: Tenant): Promise<Made> {
  await w.db.run(`UPDATE persons SET email_verified = 0 WHERE id = '${merchant.userId}'` as never);
  return {};
}

async function makeInvitation(w: World, tenant: Tenant): Promise<Made> {
  await makeSender(w, tenant);
  const { id } = await inviteTo(w, tenant.merchant, `guest-${crypto.randomUUID()}@example.com`);
  return { invitation_id: [id], email: [`other-${crypto.randomUUID()}@example.com`] };
}

async function makeInvited(w: World, { merchant }: Tenant): Promise<Made> {
  const host = await w.merchant();
  await makeSender(w, { merchant: host } as Tenant);
  return { handoff_token: [(await inviteTo(w, host, merchant.email)).token] };
}

async function makeEmailToken(w: World, _: Tenant, name: string): Promise<Made> {
  const purpose = /reset/.test(name) ? 'reset' : /email-link/.test(name) ? 'sign_in' : 'verify';
  const token = await emailedToken(w, (await w.merchant()).userId, purpose);
  return { handoff_token: [token], new_password: ['battery staple of a letter'] };
}

async function makeReady(w: World): Promise<Made> {
  const setup = await (await Setup.create(w)).ready();
  return { setup_intent_id: [setup.id], setup_secret: [setup.secret] };
}
