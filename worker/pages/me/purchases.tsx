import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { findLocale } from '#core/locales.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { type Answer, Operations, type Refusal } from '../dashboard/frame/operations.ts';
import type { PageContext } from '../document.tsx';
import { Said } from '../parts/parts.tsx';
import { Table, type TableTerms } from '../parts/table.tsx';
import { type Amount, formatCount, formatDay, formatInstant, formatMoney, plainName, shortened } from '../parts/text.ts';
import { inLanguageOf, openMe, pathIn, type SayMe, sayMe, sendMe } from './frame.tsx';
import { dropBuyer } from './session.ts';
import { Problem, sendSignIn } from './sign-in.tsx';

export interface Seller {
  account_id: string;
  display_name: string;
  domain?: string;
  support_url?: string;
}
interface Buyer {
  subject: { kind: 'wallet' | 'email' | 'customer'; wallet_address?: string; email?: string; livemode?: boolean };
  sellers: Seller[];
  locale?: string;
  return_url?: string;
}
interface Purchase {
  product_name: string;
  seller: Seller;
  amount: Amount;
  paid_at: string;
  refunded: Amount;
  receipt_id?: string;
  receipt_url?: string;
}
interface Access {
  product_name: string;
  seller: Seller;
  access: boolean;
  reason?: 'expired' | 'exhausted' | 'revoked' | 'cancelled';
  paid_through: string | null;
  units: { granted: number; remaining: number } | null;
  delivery?: { status: string; invite_url?: string };
  membership_id?: string;
  checkout_url?: string;
}
interface Subscription {
  product_name: string;
  seller: Seller;
  amount: Amount;
  next_charge_at?: string;
  paid_through: string | null;
  page_url: string;
}
interface Page<T> {
  items: T[];
  page: number;
  has_more: boolean;
}

interface View {
  page: PageContext;
  say: SayMe;
}

/** Results of the page's forms. */
export const DONE = ['tryingAgain', 'erasureAsked'] as const;

interface Outcome {
  said?: (typeof DONE)[number];
  /** Refusal of a form, which gives the page its status. */
  refusal?: Refusal;
}

/** Loads what the session opens, and shows it. A session that has ended leads to the ways in. */
export async function sendPurchases(c: Context<AppEnv>, token: string, { said, refusal }: Outcome = {}): Promise<Response> {
  const operations = new Operations(c, token);
  const buyer = await operations.call<Buyer>('getBuyer');
  if (!buyer.ok) {
    if (buyer.status === 401) dropBuyer(c);
    return sendSignIn(await openMe(c), buyer.status === 401 ? { notice: 'ended' } : { refusal: buyer });
  }
  const { subject, locale } = buyer.value;
  const query = { page: c.req.query('page') ?? '1', per_page: '20' };
  const [purchases, access, subscriptions] = await Promise.all([
    operations.call<Page<Purchase>>('listBuyerPurchases', { query }),
    operations.call<Page<Access>>('listBuyerAccess', { query: { per_page: '100' } }),
    operations.call<Page<Subscription>>('listBuyerSubscriptions', { query: { per_page: '100' } }),
  ]);
  const page = await openMe(c, findLocale(locale ?? '') ?? undefined);
  const view = { page, say: await sayMe(page.locale) };
  const isTest = subject.livemode === false;
  return sendMe(
    page,
    { title: view.say('title'), mode: isTest ? 'sandbox' : 'live', ...(refusal ? { status: refusal.status } : {}) },
    <>
      {isTest && <p class="badge">TEST · {view.say('testData')}</p>}
      <Who {...view} buyer={buyer.value} />
      {refusal && <Problem say={view.say} refusal={refusal} />}
      {said && <Said>{view.say(said)}</Said>}
      <Shown view={view} answer={access}>
        {({ items }) => <Held {...view} items={items} />}
      </Shown>
      <Shown view={view} answer={subscriptions}>
        {({ items }) => <Subscribed {...view} items={items} />}
      </Shown>
      <Shown view={view} answer={purchases}>
        {(found) => <Receipts {...view} found={found} />}
      </Shown>
      <OwnData {...view} sellers={buyer.value.sellers} />
    </>,
  );
}

function Shown<T>({ view, answer, children }: { view: View; answer: Answer<T>; children: (value: T) => Child }) {
  return answer.ok ? children(answer.value) : <Problem say={view.say} refusal={answer} />;
}

function Who({ page, say, buyer: { subject, sellers, return_url } }: View & { buyer: Buyer }) {
  const [seller] = sellers;
  const text =
    subject.kind === 'wallet'
      ? say('asWallet', { name: shortened(subject.wallet_address ?? '') })
      : subject.kind === 'email'
        ? say('asEmail', { name: subject.email ?? '' })
        : say('asCustomer', { name: plainName(seller?.display_name ?? '') });
  return (
    <div class="who">
      <bdi>{text}</bdi>
      {return_url && <a href={return_url}>{say('back')}</a>}
      <form method="post" action={pathIn(page, '/me/sign-out')}>
        <button type="submit">{say('signOut')}</button>
      </form>
    </div>
  );
}

const SellerName = ({ seller: { display_name, support_url, domain } }: { seller: Seller }) => (
  <>
    {support_url ? (
      <a href={support_url} rel="noopener noreferrer">
        <bdi>{plainName(display_name)}</bdi>
      </a>
    ) : (
      <bdi>{plainName(display_name)}</bdi>
    )}
    {domain && <span class="quiet"> {domain}</span>}
  </>
);

/** Table that a link of the page leads to. */
const Group = ({ id, ...table }: TableTerms & { id: string }) => (
  <section id={id}>
    <Table {...table} />
  </section>
);

const ProductName = ({ name }: { name: string }) => <bdi>{plainName(name)}</bdi>;
const Money = ({ page, amount }: { page: PageContext; amount: Amount }) => <span class="unbroken">{formatMoney(page.locale, amount)}</span>;

function Held({ page, say, items }: View & { items: Access[] }) {
  const [active, over] = [items.filter(({ access }) => access), items.filter(({ access }) => !access)];
  const heads = [say('product'), say('seller'), say('until'), say('options')];
  const rows = (some: Access[]) => some.map((item) => heldRow({ page, say }, item));
  return (
    <>
      {items.length === 0 && (
        <section id="active">
          <p>{say('nothing')}</p>
        </section>
      )}
      {active.length > 0 && <Group id="active" caption={say('active')} head={heads} rows={rows(active)} />}
      {over.length > 0 && <Group id="over" caption={say('over')} head={heads} rows={rows(over)} />}
    </>
  );
}

function heldRow({ page, say }: View, item: Access): Child[] {
  const { access, reason, units, delivery, membership_id: id, checkout_url: shop } = item;
  const options = [
    access && delivery?.invite_url && (
      <a href={delivery.invite_url} rel="noopener noreferrer">
        {say('invitation')}
      </a>
    ),
    access && delivery?.status === 'failed' && id && (
      <form method="post" action={pathIn(page, '/me/deliver')}>
        <input type="hidden" name="membership_id" value={id} />
        <button type="submit">{say('deliverAgain')}</button>
      </form>
    ),
    !access && shop && <a href={inLanguageOf(page, shop)}>{say('buyAgain')}</a>,
  ];
  return [
    <ProductName name={item.product_name} />,
    <SellerName seller={item.seller} />,
    <>
      {access ? <Until page={page} say={say} at={item.paid_through} /> : say(reason ?? 'expired')}
      {units && access && (
        <p>{say('unitsLeft', { left: formatCount(page.locale, units.remaining), all: formatCount(page.locale, units.granted) })}</p>
      )}
    </>,
    options.some(Boolean) ? options : null,
  ];
}

const Until = ({ page, say, at }: View & { at: string | null }) =>
  at === null ? <span>{say('noEnd')}</span> : <time datetime={at}>{formatInstant(page.locale, at, 'UTC')}</time>;

function Subscribed({ page, say, items }: View & { items: Subscription[] }) {
  if (items.length === 0) return null;
  const heads = [say('product'), say('seller'), say('amount'), say('nextCharge'), say('options')];
  const rows = items.map(({ product_name, seller, amount, next_charge_at, paid_through, page_url }) => [
    <ProductName name={product_name} />,
    <SellerName seller={seller} />,
    <Money page={page} amount={amount} />,
    next_charge_at ? (
      <time datetime={next_charge_at}>{formatDay(page.locale, next_charge_at, 'UTC')}</time>
    ) : paid_through ? (
      say('noneEndsOn', { date: formatDay(page.locale, paid_through, 'UTC') })
    ) : (
      say('none')
    ),
    <a href={inLanguageOf(page, page_url)}>{say(next_charge_at ? 'manage' : 'see')}</a>,
  ]);
  return <Group id="subscriptions" caption={say('subscriptions')} head={heads} rows={rows} />;
}

function Receipts({ page, say, found }: View & { found: Page<Purchase> }) {
  if (found.items.length === 0 && found.page === 1) return null;
  const heads = [say('product'), say('seller'), say('paidOn'), say('amount'), say('receipt')];
  const rows = found.items.map(({ product_name, seller, paid_at, amount, refunded, receipt_url, receipt_id: id }) => [
    <ProductName name={product_name} />,
    <SellerName seller={seller} />,
    <time datetime={paid_at}>{formatDay(page.locale, paid_at, 'UTC')}</time>,
    <>
      <Money page={page} amount={amount} />
      {refunded.amount !== '0' && <p class="quiet">{say('refunded', { amount: formatMoney(page.locale, refunded) })}</p>}
    </>,
    <>
      {receipt_url && <a href={inLanguageOf(page, receipt_url)}>{say('receipt')}</a>}{' '}
      {id && <a href={pathIn(page, `/me/receipts/${id}/pdf`)}>PDF</a>}
    </>,
  ]);
  return (
    <>
      <Group id="receipts" caption={say('receipts')} head={heads} rows={rows} />
      <p>
        {found.page > 1 && <a href={pathIn(page, '/me', { page: String(found.page - 1) })}>{say('newer')}</a>}{' '}
        {found.has_more && <a href={pathIn(page, '/me', { page: String(found.page + 1) })}>{say('older')}</a>}
      </p>
    </>
  );
}

/** Acts on the buyer's own data: details for invoices, a file of everything, a request of erasure, which must be unfolded first. */
function OwnData({ page, say, sellers }: View & { sellers: Seller[] }) {
  if (sellers.length === 0) return null;
  return (
    <section aria-labelledby="own-data">
      <h2 id="own-data">{say('yourData')}</h2>
      <p>
        <a href={pathIn(page, '/me/export')}>{say('download')}</a>
      </p>
      {sellers.map((seller) => (
        <div>
          <h3>
            <bdi>{plainName(seller.display_name)}</bdi>
          </h3>
          <p>
            <a href={pathIn(page, '/me/details', { account_id: seller.account_id })}>{say('invoiceDetails')}</a>
          </p>
          <details>
            <summary>{say('erasure')}</summary>
            <p>{say('erasureHelp')}</p>
            <form method="post" action={pathIn(page, '/me/erasure')}>
              <input type="hidden" name="account_id" value={seller.account_id} />
              <button type="submit">{say('askErasure')}</button>
            </form>
          </details>
        </div>
      ))}
    </section>
  );
}
