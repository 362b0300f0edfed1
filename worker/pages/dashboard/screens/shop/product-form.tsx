import { may, numberOf, textOf } from '../../frame/acts.ts';
import { SelectField, TextField } from '../../frame/fields.tsx';
import type { Amount } from '../../frame/format.tsx';
import type { Form, Screen } from '../../frame/screen.tsx';

export interface Product {
  product_id: string;
  slug: string;
  external_product_id?: string;
  name: string;
  description?: string;
  status: string;
  price: Amount;
  billing_model: string;
  renewal_mode: string;
  access_period_days: number | null;
  usage_units: number | null;
  unit_name?: string;
  payout_wallet?: string;
  allowed_rails: string[];
  success_url?: string;
  livemode: boolean;
  live_mode_confirmed: boolean;
  checkout_url: string;
  created_at: string;
}
const RENEWALS = [
  ['ONE_OFF', 'The buyer pays again'],
  ['AUTOMATIC', 'By itself, from the buyer’s wallet (USDC, 1 to 365 days)'],
] as const;
const ASSETS = [
  ['USDC', 'USDC'],
  ['SOL', 'SOL'],
] as const;

const CONFIRMATIONS = [
  ['false', 'not yet'],
  ['true', 'for real money'],
] as const;

/** Body of the API for the fields of a form. */
export const soldOf = (form: Form) => ({
  name: textOf(form.name),
  description: textOf(form.description),
  price: { asset: form['price.asset'], amount: textOf(form['price.amount']) ?? '' },
  access_period_days: numberOf(form.access_period_days),
  renewal_mode: form.renewal_mode,
  ...(form.renewal_mode === 'AUTOMATIC' && { billing_model: 'recurring' }),
  usage_units: form.usage_units === undefined ? undefined : (numberOf(form.usage_units) ?? null),
  payout_wallet: textOf(form.payout_wallet),
  success_url: textOf(form.success_url),
  ...(form.live_mode_confirmed !== undefined && { live_mode_confirmed: form.live_mode_confirmed === 'true' }),
});

export const Fields = ({ screen, act, product }: { screen: Screen; act: string; product?: Product }) => {
  const at = { screen, act };
  const numberText = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value));
  return (
    <>
      <TextField {...at} name="name" label="Name" max={120} value={product?.name ?? ''} />
      <TextField {...at} name="description" label="What the buyer gets" isOptional max={2000} value={product?.description ?? ''} />
      <SelectField {...at} name="price.asset" label="Asset" options={ASSETS} value={product?.price.asset ?? 'USDC'} />
      <TextField {...at} name="price.amount" label="Price" help="For example 5 or 0.25" value={product?.price.amount ?? ''} />
      <TextField
        {...at}
        name="access_period_days"
        label="Days of access"
        help="Empty: without end"
        isOptional
        value={numberText(product?.access_period_days)}
      />
      <SelectField {...at} name="renewal_mode" label="Renewal" options={RENEWALS} value={product?.renewal_mode ?? 'ONE_OFF'} />
      {screen.mode === 'live' && (
        <SelectField
          {...at}
          name="live_mode_confirmed"
          label="By subscription and to agents"
          help="Agents, and the renewals of a subscription, pay without your page: confirm that this sale is for real money"
          options={CONFIRMATIONS}
          value={String(product?.live_mode_confirmed ?? false)}
        />
      )}
      <TextField
        {...at}
        name="usage_units"
        label="Uses of one payment"
        help="How many visits, calls or lessons it pays. Empty: not counted"
        isOptional
        value={product ? numberText(product.usage_units) : '1'}
      />
      {may(screen, 'payouts:write') && (
        <TextField
          {...at}
          name="payout_wallet"
          label="Payout wallet"
          help="Empty: the wallet of your account"
          isOptional
          value={product?.payout_wallet ?? ''}
        />
      )}
      <TextField
        {...at}
        name="success_url"
        label="Where the buyer goes after paying"
        isOptional
        max={2000}
        value={product?.success_url ?? ''}
      />
    </>
  );
};

/** Fields that a form has changed. An emptied field is cleared. One that is unchanged, or that the form lacks, is not sent. */
export function changesOf(form: Form, product: Product): Record<string, unknown> {
  const before: Record<string, unknown> = { ...product };
  const { price, ...sold } = soldOf(form);
  const isAsked = (name: string) => name === 'billing_model' || Object.hasOwn(form, name);
  const changed = Object.entries(sold).filter(([name, value]) => isAsked(name) && (value ?? null) !== (before[name] ?? null));
  const isNewPrice = price.amount !== product.price.amount || price.asset !== product.price.asset;
  return { ...Object.fromEntries(changed.map(([name, value]) => [name, value ?? null])), ...(isNewPrice && { price }) };
}
