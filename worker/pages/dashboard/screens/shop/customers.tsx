import { PAGE_ASSETS } from '../../../assets.ts';
import { Table } from '../../../parts/table.tsx';
import { acted, idempotent, may, notTyped, numberOf } from '../../frame/acts.ts';
import { ActForm, ActSection, ConfirmField, Copied, SelectField, shownOnce, TextField } from '../../frame/fields.tsx';
import { Time } from '../../frame/format.tsx';
import { linkTo } from '../../frame/head.tsx';
import { Facts, listBody } from '../../frame/list.tsx';
import type { Definition, Screen } from '../../frame/screen.tsx';
import { Timeline } from '../payments.tsx';
import type { TimelineEntry } from './payment-acts.tsx';
import type { Product } from './product-form.tsx';

interface Sums {
  gross: string;
  refunded: string;
}
interface Customer {
  customer_id: string;
  customer_ref?: string;
  wallets: { address: string; source: string }[];
  emails: { email: string; source: string }[];
  name?: string;
  company?: { name?: string; address?: string; tax_id?: string };
  metadata: Record<string, unknown>;
  totals: { payments: number; USDC: Sums; SOL: Sums };
  access: { active: number; lapsed: number };
  first_seen_at: string;
  last_seen_at: string;
  status: 'active' | 'erasing' | 'erased';
}
interface Held {
  product_id: string;
  name: string;
  access: boolean;
  reason?: string;
  paid_through: string | null;
  units: { granted: number; used: number; remaining: number } | null;
}

const nameOf = ({ customer_ref: ref, wallets }: Customer): string => ref ?? wallets[0]?.address ?? '';
/** Sums of each asset that the customer paid with. Assets are never added up. */
const paidOf = ({ totals }: Customer): string =>
  (['USDC', 'SOL'] as const)
    .filter((asset) => Number(totals[asset].gross) > 0)
    .map((asset) => `${totals[asset].gross} ${asset}`)
    .join(', ');

export const CUSTOMERS: Definition = {
  path: '/dashboard/customers',
  title: 'Customers',
  body: listBody<Customer>({
    operation: 'listCustomers',
    filters: [
      { name: 'q', label: 'Beginning of an id, wallet, email or name' },
      { name: 'access', label: 'Access', options: ['active', 'lapsed', 'none'] },
      { name: 'product_id', label: 'Template id' },
      { name: 'sort', label: 'Order', options: [['created_at', 'first seen']], unset: 'last seen' },
    ],
    caption: 'Customers',
    head: ['Customer', 'Email', 'Paid', 'Access', 'Latest'],
    empty: (
      <p>
        Each buyer becomes a customer within a minute of the first payment. <a href="/docs/checkout">How a sale begins</a>
      </p>
    ),
    row: (customer, screen) => [
      <a href={linkTo(screen, `/dashboard/customers/${customer.customer_id}`)}>
        <bdi>{nameOf(customer)}</bdi>
      </a>,
      <bdi>{customer.emails[0]?.email}</bdi>,
      paidOf(customer),
      customer.access.active > 0 ? `${customer.access.active} active` : customer.access.lapsed > 0 ? 'lapsed' : 'none',
      <Time at={customer.last_seen_at} />,
    ],
  }),
  acts: {},
};

const paramsOf = ({ c }: Screen) => ({ customer_id: c.req.param('customer_id') ?? '' });

export const CUSTOMER: Definition = {
  path: '/dashboard/customers/:customer_id',
  title: 'Customer',
  scripts: [PAGE_ASSETS.dashboard],
  async body(screen) {
    const { operations, mode } = screen;
    const [params, query] = [paramsOf(screen), { mode }];
    const [customer, state, timeline, products] = await Promise.all([
      operations.call<Customer>('getCustomer', { params, query }),
      operations.call<{ products: Held[] }>('getCustomerState', { params, query }),
      operations.call<{ items: TimelineEntry[] }>('getCustomerTimeline', { params, query }),
      operations.call<{ items: Product[] }>('listProducts', { query }),
    ]);
    if (!customer.ok) return customer;
    const { value } = customer;
    const sold = products.ok ? products.value.items.map(({ product_id: id, name }) => [id, name] as const) : [];
    return (
      <>
        <About screen={screen} customer={value} />
        {state.ok && <Holdings screen={screen} held={state.value.products} />}
        {value.status === 'active' && <Acts screen={screen} customer={value} sold={sold} />}
        {timeline.ok && timeline.value.items.length > 0 && <Timeline screen={screen} items={timeline.value.items} />}
      </>
    );
  },
  acts: {
    grant: {
      needs: 'customers:write',
      done: 'The access is given.',
      async run(screen, form) {
        const query = { mode: screen.mode };
        const found = await screen.operations.call<Customer>('getCustomer', { params: paramsOf(screen), query });
        if (!found.ok) return found;
        const { customer_ref: ref, wallets } = found.value;
        const customer = ref === undefined ? { wallet_address: wallets[0]?.address } : { customer_ref: ref };
        const { product_id, reason } = form;
        const body = { product_id, reason, customer, days: numberOf(form.days), units: numberOf(form.units) };
        return acted(await screen.operations.call('grantEntitlement', { query, body, ...idempotent(form) }));
      },
    },
    portal: {
      needs: 'customers:write',
      done: 'The link is made.',
      run: async (screen, form) =>
        shownOnce(
          await screen.operations.call<{ url: string }>('createPortalSession', {
            query: { mode: screen.mode },
            body: paramsOf(screen),
            ...idempotent(form),
          }),
          ({ url }) => url,
        ),
    },
    merge: {
      needs: 'customers:write',
      done: 'The customers are one.',
      async run(screen, form) {
        if (form.confirm?.trim() !== 'merge') return notTyped(screen.c, 'merge');
        const [query, other] = [{ mode: screen.mode }, form.other?.trim() ?? ''];
        const found = await screen.operations.call<{ items: Customer[] }>('listCustomers', { query: { ...query, customer_ref: other } });
        if (!found.ok) return found;
        const from = found.value.items[0]?.customer_id ?? other;
        const merged = { params: paramsOf(screen), query, body: { from }, ...idempotent(form) };
        return acted(await screen.operations.call('mergeCustomer', merged));
      },
    },
    erase: {
      needs: 'privacy:write',
      done: 'The customer is erased within five minutes.',
      async run(screen, form) {
        const about = { params: paramsOf(screen), query: { mode: screen.mode } };
        const found = await screen.operations.call<Customer>('getCustomer', about);
        if (!found.ok) return found;
        const name = nameOf(found.value);
        if (form.confirm?.trim() !== name) return notTyped(screen.c, name);
        const body = { end_access: form.end_access === 'true', ...(form.reason?.trim() && { reason: form.reason.trim() }) };
        return acted(await screen.operations.call('eraseCustomer', { ...about, body, ...idempotent(form) }));
      },
    },
    save: {
      needs: 'customers:write',
      done: 'The customer is saved.',
      run: async (screen, form) =>
        acted(
          await screen.operations.call('updateCustomer', {
            params: paramsOf(screen),
            query: { mode: screen.mode },
            body: { name: form.name?.trim() || null, email: form.email?.trim() || null },
            ...idempotent(form),
          }),
        ),
    },
  },
};

/** Address that the merchant wrote. */
const ownEmail = ({ emails }: Customer): string => emails.find(({ source }) => source === 'merchant')?.email ?? '';

const Holdings = ({ screen, held }: { screen: Screen; held: Held[] }) => (
  <section>
    {held.length === 0 ? (
      <p>Nothing was bought or given yet.</p>
    ) : (
      <Table
        caption="What they may use now"
        head={['Template', 'Access', 'Until', 'Uses left']}
        rows={held.map((one) => [
          <a href={linkTo(screen, `/dashboard/templates/${one.product_id}`)}>
            <bdi>{one.name}</bdi>
          </a>,
          one.access ? 'yes' : `no: ${one.reason ?? 'never bought'}`,
          one.paid_through ? <Time at={one.paid_through} /> : 'no end',
          one.units === null ? 'not counted' : `${one.units.remaining} of ${one.units.granted}`,
        ])}
      />
    )}
  </section>
);

const About = ({ screen, customer }: { screen: Screen; customer: Customer }) => (
  <section>
    <Facts
      rows={[
        ['Customer id', <Copied text={customer.customer_id} />],
        ['Your id', customer.customer_ref && <bdi>{customer.customer_ref}</bdi>],
        ['Status', customer.status],
        ['Name', customer.name && <bdi>{customer.name}</bdi>],
        ['Company', customer.company?.name && <bdi>{customer.company.name}</bdi>],
        ['Wallets', customer.wallets.map(({ address }) => address).join(', ')],
        ['Emails', customer.emails.length > 0 && <bdi>{customer.emails.map(({ email }) => email).join(', ')}</bdi>],
        ['Payments', String(customer.totals.payments)],
        ['Paid', paidOf(customer)],
        ['First seen', <Time at={customer.first_seen_at} />],
        ['Last seen', <Time at={customer.last_seen_at} />],
        ['Metadata', Object.keys(customer.metadata).length > 0 && <code>{JSON.stringify(customer.metadata)}</code>],
      ]}
    />
    <p>
      <a href={linkTo(screen, `/dashboard/payments?customer_id=${customer.customer_id}`)}>Payments</a>{' '}
      <a href={linkTo(screen, `/dashboard/receipts?customer_id=${customer.customer_id}`)}>Receipts</a>{' '}
      {may(screen, 'privacy:read') && <a href={linkTo(screen, `/dashboard/customers/${customer.customer_id}/export`)}>Export</a>}
    </p>
  </section>
);

const RUNNING_ACCESS = [
  ['', 'stop, and erase nothing'],
  ['true', 'end the access, and erase'],
] as const;

/** Acts on a customer that is not erased. */
const Acts = ({ screen, customer, sold }: { screen: Screen; customer: Customer; sold: (readonly [string, string])[] }) => (
  <>
    {sold.length > 0 && (
      <ActSection screen={screen} act="grant" title="Give access">
        <ActForm screen={screen} act="grant" submit="Give access">
          <SelectField screen={screen} act="grant" name="product_id" label="Template" options={sold} />
          <TextField screen={screen} act="grant" name="days" label="Days" help="Empty: no time is added" isOptional />
          <TextField screen={screen} act="grant" name="units" label="Uses" help="Empty: no uses are added" isOptional />
          <TextField screen={screen} act="grant" name="reason" label="Reason" help="For your own records" max={200} />
        </ActForm>
      </ActSection>
    )}
    <ActSection screen={screen} act="portal" title="Portal link">
      <p>It shows this customer their purchases at your shop. It works for ten minutes.</p>
      <ActForm screen={screen} act="portal" submit="Portal link" />
    </ActSection>
    <ActSection screen={screen} act="save" title="Change">
      <ActForm screen={screen} act="save" submit="Save">
        <TextField screen={screen} act="save" name="name" label="Name" isOptional max={200} value={customer.name ?? ''} />
        <TextField
          screen={screen}
          act="save"
          name="email"
          label="Email address"
          isOptional
          type="email"
          max={254}
          value={ownEmail(customer)}
        />
      </ActForm>
    </ActSection>
    <Merge screen={screen} />
    <Erase screen={screen} customer={customer} />
  </>
);

const Erase = ({ screen, customer }: { screen: Screen; customer: Customer }) => (
  <ActSection screen={screen} act="erase" title="Erase">
    <p>Names, addresses and metadata are erased for good. Payments, receipts and wallets remain.</p>
    <ActForm screen={screen} act="erase" submit="Erase" isFinal>
      <SelectField screen={screen} act="erase" name="end_access" label="If access still runs" options={RUNNING_ACCESS} />
      <TextField
        screen={screen}
        act="erase"
        name="reason"
        label="Reason"
        help="Stays in your audit log. Name nobody."
        isOptional
        max={500}
      />
      <ConfirmField screen={screen} act="erase" name={nameOf(customer)} />
    </ActForm>
  </ActSection>
);

const Merge = ({ screen }: { screen: Screen }) => (
  <ActSection screen={screen} act="merge" title="Merge">
    <p>Everything that another customer has moves here for good: payments, receipts, uses and time.</p>
    <ActForm screen={screen} act="merge" submit="Merge into this customer" isFinal>
      <TextField screen={screen} act="merge" name="other" label="Id or reference of the other customer" max={180} />
      <ConfirmField screen={screen} act="merge" name="merge" />
    </ActForm>
  </ActSection>
);
