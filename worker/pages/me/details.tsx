import type { Context } from 'hono';
import type { AppEnv } from '#platform/http/openapi.ts';
import { Operations, type Refusal } from '../dashboard/frame/operations.ts';
import { Said } from '../parts/parts.tsx';
import { plainName } from '../parts/text.ts';
import { openMe, pathIn, sayMe, sendMe } from './frame.tsx';
import { sendPurchases } from './purchases.tsx';
import { Problem } from './sign-in.tsx';

/** Fields of a billed party, with their limits in characters and how a browser fills them in. */
const FIELDS = [
  { name: 'name', max: 200, autocomplete: 'organization' },
  { name: 'address', max: 500, autocomplete: 'street-address' },
  { name: 'tax_id', max: 200, autocomplete: 'off' },
  { name: 'email', max: 200, autocomplete: 'email' },
] as const;
type Details = Partial<Record<(typeof FIELDS)[number]['name'], string>>;

interface Outcome {
  isSaved?: boolean;
  refusal?: Refusal;
  /** Values of the refused form. */
  typed?: Details;
}

/** Page of the buyer’s details for the invoices of one seller. A refused form comes back with what was typed. */
export async function sendDetails(c: Context<AppEnv>, token: string, accountId: string, outcome: Outcome = {}): Promise<Response> {
  const operations = new Operations(c, token);
  const [found, buyer] = await Promise.all([
    operations.call<Details>('getInvoiceDetails', { query: { account_id: accountId } }),
    operations.call<{ sellers: { account_id: string; display_name: string }[] }>('getBuyer'),
  ]);
  if (!found.ok) return sendPurchases(c, token, { refusal: found });
  const page = await openMe(c);
  const say = await sayMe(page.locale);
  const { refusal, isSaved, typed } = outcome;
  const values = typed ?? found.value;
  const seller = buyer.ok ? buyer.value.sellers.find(({ account_id }) => account_id === accountId)?.display_name : undefined;
  const isWrong = (name: string): boolean => refusal?.problems.some(({ loc }) => loc.at(-1) === name) ?? false;
  return sendMe(
    page,
    { title: say('invoiceDetails'), ...(refusal ? { status: refusal.status } : {}) },
    <>
      <p>
        <a href={pathIn(page, '/me')}>{say('title')}</a>
      </p>
      {seller !== undefined && (
        <p>
          {say('seller')}: <bdi>{plainName(seller)}</bdi>
        </p>
      )}
      <p>{say('detailsHelp')}</p>
      {refusal && <Problem say={say} refusal={refusal} />}
      {isSaved && <Said>{say('saved')}</Said>}
      <form class="act" method="post" action={pathIn(page, '/me/details')}>
        <input type="hidden" name="account_id" value={accountId} />
        {FIELDS.map(({ name, max, autocomplete }) => {
          const facts = { id: name, name, maxlength: max, autocomplete, ...(isWrong(name) && { 'aria-invalid': 'true' as const }) };
          return (
            <div class="field">
              <label for={name}>{say(name)}</label>
              {name === 'address' ? (
                <textarea {...facts} rows={3}>
                  {values[name] ?? ''}
                </textarea>
              ) : (
                <input {...facts} type={name === 'email' ? 'email' : 'text'} value={values[name] ?? ''} />
              )}
            </div>
          );
        })}
        <label>
          <input type="checkbox" name="earlier" /> {say('alsoEarlier')}
        </label>
        <button type="submit">{say('saveDetails')}</button>
      </form>
    </>,
  );
}

/** Receipts of before that one form bills. */
const EARLIER_MAX = '20';

/** Saves the details, and puts them on the newest receipts if asked. A receipt that the seller billed stays as it is. */
export async function saveDetails(c: Context<AppEnv>, token: string, form: Record<string, string>): Promise<Response> {
  const { account_id = '', earlier } = form;
  const typed = Object.fromEntries(FIELDS.map(({ name }) => [name, (form[name] ?? '').trim()]).filter(([, value]) => value !== ''));
  const operations = new Operations(c, token);
  const saved = await operations.call('setInvoiceDetails', { body: { account_id, ...typed } });
  if (!saved.ok) return sendDetails(c, token, account_id, { refusal: saved, typed });
  if (earlier !== undefined) {
    const query = { account_id, per_page: EARLIER_MAX };
    const sold = await operations.call<{ items: { receipt_id?: string }[] }>('listBuyerPurchases', { query });
    const receipts = sold.ok ? sold.value.items.flatMap(({ receipt_id }) => receipt_id ?? []) : [];
    for (const receipt_id of receipts) await operations.call('billReceipt', { params: { receipt_id } });
  }
  return c.redirect(pathIn(await openMe(c), '/me/details', { account_id, why: 'saved' }), 303);
}
