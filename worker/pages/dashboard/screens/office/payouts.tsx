import { RAILS, type RailId } from '#rules/rails.ts';
import { Table } from '../../../parts/table.tsx';
import { acted, idempotent, may, mayAct, notTyped } from '../../frame/acts.ts';
import { ActForm, ActSection, ConfirmField, ConfirmFirst, SelectField, TextField } from '../../frame/fields.tsx';
import { Time } from '../../frame/format.tsx';
import { linkTo } from '../../frame/head.tsx';
import { Facts } from '../../frame/list.tsx';
import { type Definition, isFresh, type Screen } from '../../frame/screen.tsx';

interface PayoutWallet {
  wallet_address: string;
  known_since?: string;
  used_by: { type: string; id?: string }[];
}
interface Checked {
  checks: { code: string; fix: { sign_url?: string } | null }[];
}
export interface RailSetting {
  rail_id: string;
  enabled: boolean;
  payout_wallet: string | null;
  ata_exists: boolean | null;
}

export const railName = (id: string): string => RAILS[id as RailId]?.name ?? id;
const nameOfUse = ({ type, id = '' }: PayoutWallet['used_by'][number]): string =>
  type === 'account' ? 'your account' : type === 'rail' ? railName(id) : `${type} ${id}`;
const SWITCH = [
  ['true', 'on'],
  ['false', 'off'],
] as const;

export const PAYOUTS: Definition = {
  path: '/dashboard/payouts',
  title: 'Payouts',
  async body(screen) {
    const { operations, mode, me } = screen;
    const [wallets, rails] = await Promise.all([
      operations.call<{ items: PayoutWallet[] }>('listPayoutWallets', { query: { mode } }),
      operations.call<{ items: RailSetting[] }>('listRailSettings', { query: { mode } }),
    ]);
    if (!wallets.ok) return wallets;
    const isAccountMissing = rails.ok && rails.value.items.some(({ ata_exists: exists }) => exists === false);
    const readiness = isAccountMissing ? await operations.call<Checked>('getReadiness', { query: { mode } }) : null;
    const fix = readiness?.ok ? readiness.value.checks.find(({ code }) => code === 'payout_ata_exists')?.fix : null;
    return (
      <>
        {mayAct(screen, 'set_wallet') && !isFresh(screen) && <ConfirmFirst screen={screen} />}
        <Wallets screen={screen} wallets={wallets.value.items} />
        {fix?.sign_url && (
          <section>
            <h2>Token account</h2>
            <p>A wallet needs an account for USDC once. Without it the first buyer pays to create it, and agents cannot pay.</p>
            <p>
              <a class="button" href={fix.sign_url}>
                Create token account
              </a>
            </p>
          </section>
        )}
        {rails.ok && <Rails screen={screen} settings={rails.value.items} />}
        {may(screen, 'log:read') && (
          <p>
            <a href={`/dashboard/log?${new URLSearchParams({ action: 'payout.*', mode })}`}>Every change of a payout wallet</a>
          </p>
        )}
        <ActSection screen={screen} act="pause" title="Pause sales">
          <p>
            {me.sales_paused
              ? 'Sales are paused: nobody can begin to pay.'
              : 'Nobody can begin to pay while sales are paused. Access stays.'}
          </p>
          <ActForm screen={screen} act={me.sales_paused ? 'resume' : 'pause'} submit={me.sales_paused ? 'Resume sales' : 'Pause sales'} />
        </ActSection>
        <ActSection screen={screen} act="disown" title="This wallet is not mine">
          <p>It is paid nothing more: it leaves your account, templates and ways to pay, and subscriptions that pay it are stopped.</p>
          <ActForm screen={screen} act="disown" submit="This wallet is not mine" isFinal>
            <TextField screen={screen} act="disown" name="wallet_address" label="Wallet" max={44} />
            <ConfirmField screen={screen} act="disown" name="not mine" />
          </ActForm>
        </ActSection>
      </>
    );
  },
  acts: {
    set_wallet: {
      needs: 'payouts:write',
      done: 'This way to pay is saved.',
      run: async ({ operations, mode }, form) =>
        acted(
          await operations.call('putRailSetting', {
            params: { rail_id: form.id ?? '' },
            query: { mode },
            body: { enabled: form.enabled === 'true', payout_wallet: form.payout_wallet?.trim() || null },
            ...idempotent(form),
          }),
        ),
    },
    pause: { needs: 'settings:write', done: 'Sales are paused.', run: (screen, form) => setPaused(screen, form, true) },
    resume: { needs: 'settings:write', done: 'Sales go on.', run: (screen, form) => setPaused(screen, form, false) },
    disown: {
      needs: 'payouts:write',
      done: 'The wallet is paid nothing more.',
      async run({ c, operations }, form) {
        if (form.confirm?.trim() !== 'not mine') return notTyped(c, 'not mine');
        return acted(await operations.call('disownPayout', { body: { wallet_address: form.wallet_address?.trim() }, ...idempotent(form) }));
      },
    },
  },
};

const Wallets = ({ screen, wallets }: { screen: Screen; wallets: PayoutWallet[] }) => (
  <section>
    {wallets.length === 0 ? (
      <p>Buyers pay straight to your own Solana wallet. Name it below, once for each way to pay. The first is all that a shop needs.</p>
    ) : (
      <Table
        caption="Wallets that are paid"
        head={['Wallet', 'Paid for', 'Known since']}
        rows={wallets.map(({ wallet_address: wallet, known_since: since, used_by: uses }) => [
          wallet,
          uses.map((use) => (
            <span>
              {use.type === 'product' ? <a href={linkTo(screen, `/dashboard/templates/${use.id}`)}>a template</a> : nameOfUse(use)}{' '}
            </span>
          )),
          since && <Time at={since} />,
        ])}
      />
    )}
  </section>
);

const setPaused = async ({ operations }: Screen, form: Record<string, string>, isPaused: boolean) =>
  acted(await operations.call('updateAccount', { body: { sales_paused: isPaused }, ...idempotent(form) }));

const Rails = ({ screen, settings }: { screen: Screen; settings: RailSetting[] }) => {
  const [first, ...others] = settings;
  const isRefused = others.some(({ rail_id: id }) => screen.refused?.id === id);
  if (!mayAct(screen, 'set_wallet'))
    return (
      <section>
        <h2>Ways to pay</h2>
        <Facts
          rows={settings.map(
            ({ rail_id: id, enabled, payout_wallet: wallet }) => [railName(id), enabled ? (wallet ?? 'no wallet') : 'off'] as const,
          )}
        />
      </section>
    );
  return (
    <section>
      <h2>Ways to pay</h2>
      {first && <RailForm screen={screen} rail={first} />}
      <details open={isRefused}>
        <summary>Other ways: SOL, subscriptions, agents</summary>
        <p>Empty: the wallet of the template, else that of your account.</p>
        {others.map((rail) => (
          <RailForm screen={screen} rail={rail} />
        ))}
      </details>
    </section>
  );
};

function RailForm({ screen, rail }: { screen: Screen; rail: RailSetting }) {
  const field = { screen, act: 'set_wallet', id: rail.rail_id };
  return (
    <ActForm {...field} submit="Set wallet">
      <h3>{railName(rail.rail_id)}</h3>
      <TextField {...field} name="payout_wallet" label="Payout wallet" isOptional max={44} value={rail.payout_wallet ?? ''} />
      <SelectField {...field} name="enabled" label="Buyers can pay this way" options={SWITCH} value={String(rail.enabled)} />
    </ActForm>
  );
}
