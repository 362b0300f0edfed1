import { DAY, iso } from '#core/time.ts';
import { Table } from '../../../parts/table.tsx';
import { acted, beyondRole, idempotent, may, mayAct } from '../../frame/acts.ts';
import { ActForm, ActSection, TextField } from '../../frame/fields.tsx';
import { amountOf, periodOf, Time } from '../../frame/format.tsx';
import { linkTo, signPathOf } from '../../frame/head.tsx';
import { Facts, listBody } from '../../frame/list.tsx';
import type { Definition, Screen } from '../../frame/screen.tsx';
import { type RailSetting, railName } from '../office/payouts.tsx';
import { changesOf, Fields, type Product, soldOf } from './product-form.tsx';

interface Check {
  code: string;
  status: string;
  message: string;
  fix: { detail: string; sign_url?: string } | null;
}

interface Plan {
  status: string;
  transaction?: string;
}

const SALES_MS = 30 * DAY;
const isToPublish = (plan: Plan | null): boolean => plan !== null && ['unpublished', 'outdated'].includes(plan.status);

/** State in words. A product without a wallet is paid to that of one of its ways to pay. */
function stateOf(product: Product, rails: readonly RailSetting[], plan: Plan | null = null): string {
  if (product.status === 'archived') return 'Archived';
  const isPaid = ({ rail_id: id, enabled, payout_wallet: wallet }: RailSetting) =>
    enabled && wallet !== null && product.allowed_rails.includes(id);
  if (product.livemode && product.payout_wallet === undefined && !rails.some(isPaid)) return 'Needs a payout wallet';
  if (product.renewal_mode === 'AUTOMATIC' && product.livemode && !product.live_mode_confirmed) return 'Live mode to confirm';
  return isToPublish(plan) ? 'Plan to publish' : 'On sale';
}

const listRails = async ({ operations, mode }: Screen): Promise<RailSetting[]> => {
  const settings = await operations.call<{ items: RailSetting[] }>('listRailSettings', { query: { mode } });
  return settings.ok ? settings.value.items : [];
};

const listOf = (rails: readonly RailSetting[]) =>
  listBody<Product>({
    operation: 'listProducts',
    filters: [{ name: 'status', label: 'Status', options: ['active', 'archived'] }],
    caption: 'Templates, newest first',
    head: ['Template', 'Price', 'Access', 'State'],
    empty: (
      <p>
        A template is what a buyer pays for: a name, a price and what they get. <a href="/docs/checkout">How a sale begins</a>
      </p>
    ),
    before: (screen) =>
      may(screen, 'products:write') && (
        <p>
          <a class="button" href={linkTo(screen, '/dashboard/templates/new')}>
            Create template
          </a>
        </p>
      ),
    row: (product, screen) => [
      <a href={linkTo(screen, `/dashboard/templates/${product.product_id}`)}>
        <bdi>{product.name}</bdi>
      </a>,
      amountOf(product.price),
      periodOf(product.access_period_days),
      stateOf(product, rails),
    ],
  });

export const PRODUCTS: Definition = {
  path: '/dashboard/templates',
  title: 'Templates',
  body: async (screen) => listOf(await listRails(screen))(screen),
  acts: {},
};

export const NEW_PRODUCT: Definition = {
  path: '/dashboard/templates/new',
  title: 'New template',
  async body(screen) {
    if (!mayAct(screen, 'create')) return beyondRole(screen, 'create');
    return (
      <section>
        <ActForm screen={screen} act="create" submit="Create template">
          <Fields screen={screen} act="create" />
        </ActForm>
      </section>
    );
  },
  acts: {
    create: {
      needs: 'products:write',
      done: 'The template is created.',
      async run({ operations, mode }, form) {
        const made = await operations.call<Product>('createProduct', { query: { mode }, body: soldOf(form), ...idempotent(form) });
        return made.ok ? { ok: true, leaveTo: linkTo({ mode }, `/dashboard/templates/${made.value.product_id}`) } : made;
      },
    },
  },
};

const paramsOf = ({ c }: Screen) => ({ product_id: c.req.param('product_id') ?? '' });
const actOn = (operation: 'archiveProduct' | 'unarchiveProduct', done: string): Definition['acts'][string] => ({
  needs: 'products:write',
  done,
  run: async (screen, form) =>
    acted(await screen.operations.call(operation, { params: paramsOf(screen), query: { mode: screen.mode }, ...idempotent(form) })),
});

export const PRODUCT: Definition = {
  path: '/dashboard/templates/:product_id',
  title: 'Template',
  async body(screen) {
    const { operations, mode } = screen;
    const params = paramsOf(screen);
    const from = iso(screen.c.var.ctx.wallNow - SALES_MS).slice(0, 10);
    const [rails, product, readiness, sales] = await Promise.all([
      listRails(screen),
      operations.call<Product>('getProduct', { params, query: { mode } }),
      operations.call<{ checks: Check[] }>('getReadiness', { query: { ...params, mode } }),
      operations.call<{ total: number }>('listPayments', {
        query: { ...params, status: 'CONFIRMED', created_from: from, per_page: '1', mode },
      }),
    ]);
    if (!product.ok) return product;
    const { value } = product;
    const renews = value.renewal_mode === 'AUTOMATIC';
    const published = renews ? await operations.call<Plan>('getSubscriptionPlan', { params, query: { mode } }) : null;
    const plan = published?.ok ? published.value : null;
    return (
      <>
        <ProductFacts screen={screen} product={value} state={stateOf(value, rails, plan)} sales={sales.ok ? sales.value.total : null} />
        {plan && isToPublish(plan) && <PlanForms screen={screen} />}
        {readiness.ok && <Readiness screen={screen} checks={readiness.value.checks} />}
        <ActSection screen={screen} act="save" title="Change">
          <ActForm screen={screen} act="save" submit="Save">
            <Fields screen={screen} act="save" product={value} />
          </ActForm>
          {value.status === 'archived' ? (
            <ActForm screen={screen} act="unarchive" submit="Unarchive" />
          ) : (
            <>
              <p>Archive it to end its sale. Access that was paid stays, and it can be sold again at any time.</p>
              <ActForm screen={screen} act="archive" submit="Archive" isFinal />
            </>
          )}
        </ActSection>
      </>
    );
  },
  acts: {
    save: {
      needs: 'products:write',
      done: 'The template is saved.',
      async run(screen, form) {
        const [params, query] = [paramsOf(screen), { mode: screen.mode }];
        const product = await screen.operations.call<Product>('getProduct', { params, query });
        if (!product.ok) return product;
        const body = changesOf(form, product.value);
        if (Object.keys(body).length === 0) return { ok: true };
        return acted(await screen.operations.call('updateProduct', { params, query, body, ...idempotent(form) }));
      },
    },
    publish: {
      needs: 'products:write',
      done: '',
      async run(screen, form) {
        const at = { params: paramsOf(screen), query: { mode: screen.mode } };
        const plan = await screen.operations.call<Plan>('prepareSubscriptionPlan', { ...at, ...idempotent(form) });
        if (!plan.ok) return plan;
        return plan.value.transaction === undefined ? { ok: true } : { ok: true, leaveTo: signPathOf(screen, plan.value.transaction) };
      },
    },
    confirm: {
      needs: 'products:write',
      done: 'The plan is published. Buyers can subscribe.',
      run: async (screen, form) =>
        acted(
          await screen.operations.call('confirmSubscriptionPlan', {
            params: paramsOf(screen),
            query: { mode: screen.mode },
            body: { tx_signature: form.tx_signature?.trim() },
            ...idempotent(form),
          }),
        ),
    },
    archive: actOn('archiveProduct', 'The template is archived. Nobody can buy it, and access that was paid stays.'),
    unarchive: actOn('unarchiveProduct', 'The template is on sale again.'),
  },
};

interface ProductFactsTerms {
  screen: Screen;
  product: Product;
  state: string;
  /** null: unknown. */
  sales: number | null;
}

const ProductFacts = ({ screen, product, state, sales }: ProductFactsTerms) => (
  <section>
    <Facts
      rows={[
        ['Name', <bdi>{product.name}</bdi>],
        ['State', state],
        ['Sales of 30 days', sales === null ? undefined : String(sales)],
        ['What the buyer gets', product.description && <bdi>{product.description}</bdi>],
        ['Price', amountOf(product.price)],
        ['Payout wallet', product.payout_wallet],
        ['Access', periodOf(product.access_period_days)],
        ['Uses of one payment', product.usage_units === null ? undefined : `${product.usage_units} ${product.unit_name ?? ''}`],
        ['Page for buyers', <a href={product.checkout_url}>{product.checkout_url}</a>],
        ['Ways to pay', product.allowed_rails.map(railName).join(', ')],
        ['Template id', product.product_id],
        ['Your id', product.external_product_id && <bdi>{product.external_product_id}</bdi>],
        ['Created', <Time at={product.created_at} />],
      ]}
    />
    <p>
      <a href={`/dashboard/payments?${new URLSearchParams({ product_id: product.product_id, mode: screen.mode })}`}>Its payments</a>
      {product.status === 'active' && (
        <>
          {' · '}
          <a href={`/p/${product.slug}/qr`}>QR sheet</a>
        </>
      )}
    </p>
  </section>
);

/** Publication of the plan that buyers subscribe to: the wallet signs, and its signature is confirmed here. */
function PlanForms({ screen }: { screen: Screen }) {
  const signature = screen.c.req.query('tx_signature') ?? screen.refused?.typed.tx_signature;
  return (
    <ActSection screen={screen} act="publish" title="Publish the plan">
      {signature === undefined ? (
        <>
          <p>Buyers subscribe to a plan on the chain, which your payout wallet publishes once for each price and period.</p>
          <ActForm screen={screen} act="publish" submit="Publish with wallet" />
        </>
      ) : (
        <p>The plan is signed. Confirm it, and buyers can subscribe.</p>
      )}
      <ActForm screen={screen} act="confirm" submit="Confirm">
        <TextField
          screen={screen}
          act="confirm"
          name="tx_signature"
          label="Signature, as the signing page shows it"
          max={100}
          value={signature}
        />
      </ActForm>
    </ActSection>
  );
}

/** Repairs in words of the dashboard, and the screen where they are made. Others have those of the API. */
const REPAIRS: Record<string, [text: string, path?: string]> = {
  payout_wallet_set: ['Name the wallet that is paid, for each way to pay.', '/dashboard/payouts'],
  payout_ata_exists: ['Open the USDC account of your wallet. Without it the first buyer pays for it, and agents cannot pay.'],
  live_mode_confirmed: ['To sell by subscription or to agents, confirm “for real money” in the form below.'],
  subscription_plan_published: ['Publish the plan above, so that buyers can subscribe.'],
  webhook_endpoint_enabled: ['Only for your own server: an endpoint that receives each sale.', '/dashboard/webhooks'],
  live_key_present: ['Only for your own server: a key, to count the uses of a buyer.', '/dashboard/keys'],
  plan_active: ['Renew the plan of your account.', '/dashboard/billing'],
};

/** Checks that do not pass, and the repair of each: first those without which something cannot be sold. */
const Readiness = ({ screen, checks }: { screen: Screen; checks: Check[] }) => {
  const open = (['fail', 'warn'] as const).flatMap((kind) => checks.filter(({ status }) => status === kind));
  if (open.length === 0) return null;
  return (
    <section>
      <Table
        caption="Before it sells in every way"
        head={['What to do', 'Needed', 'Where']}
        rows={open.map(({ code, status, message, fix }) => {
          const [text, path] = REPAIRS[code] ?? [`${message} ${fix?.detail ?? ''}`];
          return [
            text,
            status === 'fail' ? 'yes' : 'can wait',
            fix?.sign_url ? <a href={fix.sign_url}>Sign with your wallet</a> : path && <a href={linkTo(screen, path)}>Open</a>,
          ];
        })}
      />
    </section>
  );
};
