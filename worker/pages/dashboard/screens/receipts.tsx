import { given } from '#platform/http/openapi.ts';
import { acted, idempotent, may, mayAct, textOf } from '../frame/acts.ts';
import { ActForm, ActSection, TextField } from '../frame/fields.tsx';
import { type Amount, amountOf, Time } from '../frame/format.tsx';
import { linkTo } from '../frame/head.tsx';
import { DAYS, Facts, listBody } from '../frame/list.tsx';
import type { Definition, Form, Screen } from '../frame/screen.tsx';

/** Texts of an invoice, with their label, longest length, and lines if they may have several. */
const INVOICE = [
  ['invoice_number', 'Invoice number', 64],
  ['reference', 'Reference', 120],
  ['issued_on', 'Date of the invoice', 10],
  ['due_on', 'Due on', 10],
  ['notes', 'Notes', 2000, 4],
] as const;
const BILL_TO = [
  ['name', 'Billed to', 200],
  ['address', 'Address', 500, 3],
  ['tax_id', 'Tax number', 64],
  ['email', 'Email address on the invoice', 254],
] as const;

interface Receipt {
  receipt_id: string;
  tx_sig: string;
  sha256: string;
  key_id: string;
  link?: { seq: number };
  invoice_metadata?: Partial<Record<(typeof INVOICE)[number][0], string>> & {
    bill_to?: Partial<Record<(typeof BILL_TO)[number][0], string>>;
  };
  document: {
    amount: Amount;
    payer: string;
    recipient: string;
    product_name: string;
    memo: string;
    block_time: string;
    issued_at: string;
  };
}

export const RECEIPTS: Definition = {
  path: '/dashboard/receipts',
  title: 'Receipts',
  body: listBody<Receipt>({
    operation: 'listReceipts',
    filters: [
      { name: 'product_id', label: 'Template id' },
      { name: 'customer_id', label: 'Customer id' },
      { name: 'wallet', label: 'Wallet' },
      ...DAYS,
      {
        name: 'direction',
        label: 'Receipts of',
        options: [
          ['received', 'your sales'],
          ['paid', 'what you paid for plans'],
        ],
      },
      { name: 'q', label: 'Receipt id, signature, wallet, email or words' },
    ],
    hasFile: true,
    caption: 'Receipts, newest first',
    head: ['Receipt', 'Product', 'Amount', 'Paid by', 'When'],
    empty: (
      <p>
        Each confirmed payment gets a signed receipt. <a href="/docs/email-and-receipts">What is on it</a>
      </p>
    ),
    row: ({ receipt_id: id, document: { product_name: product, amount, payer, issued_at: at } }, screen) => [
      <a href={linkTo(screen, `/dashboard/receipts/${id}`)}>{id}</a>,
      <bdi>{product}</bdi>,
      amountOf(amount),
      payer,
      <Time at={at} />,
    ],
  }),
  acts: {},
};

interface Refund {
  amount: Amount;
  at: string;
}

/** Refunds of the payment of a transaction, for a role that reads payments. */
async function listRefunds(screen: Screen, tx: string): Promise<Refund[]> {
  if (!may(screen, 'payments:read')) return [];
  const query = { tx_signature: tx, mode: screen.mode };
  const paid = await screen.operations.call<{ items: { tx_signature?: string; refunded?: Refund[] }[] }>('listPayments', { query });
  return paid.ok ? paid.value.items.flatMap(({ tx_signature, refunded = [] }) => (tx_signature === tx ? refunded : [])) : [];
}

/** Texts of a form. An emptied one is cleared. */
const textsOf = (form: Form, fields: readonly (readonly [name: string, ...unknown[]])[], prefix: string) =>
  Object.fromEntries(fields.map(([name]) => [name, textOf(form[prefix + name]?.replaceAll('\r\n', '\n')) ?? null]));

export const RECEIPT: Definition = {
  path: '/dashboard/receipts/:receipt_id',
  title: 'Receipt',
  async body(screen) {
    const { c, operations, mode } = screen;
    const receipt = await operations.call<Receipt>('getReceipt', {
      params: { receipt_id: c.req.param('receipt_id') ?? '' },
      query: { mode },
    });
    if (!receipt.ok) return receipt;
    const { receipt_id: id, document, invoice_metadata: invoice, tx_sig: tx } = receipt.value;
    const refunds = await listRefunds(screen, tx);
    return (
      <>
        <section>
          <Facts
            rows={[
              ['Receipt', id],
              ['Product', <bdi>{document.product_name}</bdi>],
              ['Amount', amountOf(document.amount)],
              ['Paid by', document.payer],
              ['Paid to', document.recipient],
              ['Transaction', tx],
              ['Paid', <Time at={document.block_time} />],
              ...refunds.map(
                ({ amount, at }) =>
                  [
                    'Refunded',
                    <>
                      {amountOf(amount)}, <Time at={at} />
                    </>,
                  ] as const,
              ),
            ]}
          />
          <p>
            <a href={`/r/${id}`}>Public page</a> · <a href={`/v1/receipt/${id}/pdf`}>Public PDF</a> ·{' '}
            <a href={linkTo(screen, `/dashboard/receipts/${id}/pdf`)}>Your PDF, with fee and invoice fields</a>
          </p>
          <Signature {...receipt.value} />
        </section>
        <InvoiceForm screen={screen} invoice={invoice} />
        <ActSection screen={screen} act="send_proof" title="Email the proof">
          <ActForm screen={screen} act="send_proof" submit="Send">
            <TextField
              screen={screen}
              act="send_proof"
              name="email"
              label="Email address"
              type="email"
              max={254}
              value={invoice?.bill_to?.email ?? ''}
            />
          </ActForm>
        </ActSection>
      </>
    );
  },
  acts: {
    invoice: {
      needs: 'receipts:write',
      done: 'The invoice fields are saved.',
      run: async ({ c, operations, mode }, form) =>
        acted(
          await operations.call('updateInvoiceMetadata', {
            params: { receipt_id: c.req.param('receipt_id') ?? '' },
            query: { mode },
            body: { ...textsOf(form, INVOICE, ''), bill_to: textsOf(form, BILL_TO, 'bill_to.') },
            ...idempotent(form),
          }),
        ),
    },
    send_proof: {
      needs: 'receipts:write',
      done: 'The proof is on its way.',
      run: async ({ c, operations, mode }, form) =>
        acted(
          await operations.call('sendReceiptProof', {
            params: { receipt_id: c.req.param('receipt_id') ?? '' },
            query: { mode },
            body: { email: form.email?.trim() },
            ...idempotent(form),
          }),
        ),
    },
  },
};

const Signature = ({ link, sha256, key_id: keyId }: Receipt) => (
  <details>
    <summary>Signature</summary>
    <Facts
      rows={[
        ['Position among your receipts', link && String(link.seq)],
        ['SHA-256 of the signed text', sha256],
        ['Signing key', keyId],
      ]}
    />
  </details>
);

const InvoiceForm = ({ screen, invoice }: { screen: Screen; invoice: Receipt['invoice_metadata'] }) => (
  <section>
    <h2>Invoice fields</h2>
    <p>
      They are on your PDF, and no part of the signed receipt. The party billed is also on the PDF that the buyer gets at Your purchases.
    </p>
    {!mayAct(screen, 'invoice') && (
      <Facts
        rows={[
          ...INVOICE.map(([name, label]) => [label, invoice?.[name]] as const),
          ...BILL_TO.map(([name, label]) => [label, invoice?.bill_to?.[name]] as const),
        ]}
      />
    )}
    <ActForm screen={screen} act="invoice" submit="Save invoice fields">
      {INVOICE.map(([name, label, max, lines]) => (
        <TextField
          screen={screen}
          act="invoice"
          name={name}
          label={label}
          isOptional
          max={max}
          {...(name.endsWith('_on') && { type: 'date' as const })}
          {...given('lines', lines ?? null)}
          value={invoice?.[name] ?? ''}
        />
      ))}
      {BILL_TO.map(([name, label, max, lines]) => (
        <TextField
          screen={screen}
          act="invoice"
          name={`bill_to.${name}`}
          label={label}
          isOptional
          max={max}
          {...given('lines', lines ?? null)}
          value={invoice?.bill_to?.[name] ?? ''}
        />
      ))}
    </ActForm>
  </section>
);
