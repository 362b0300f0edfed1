import { given } from '#platform/http/openapi.ts';
import { acted, idempotent, mayAct, textOf } from '../frame/acts.ts';
import { ActForm, ActSection, TextField } from '../frame/fields.tsx';
import { type Amount, amountOf, Time } from '../frame/format.tsx';
import { linkTo } from '../frame/head.tsx';
import { Facts, listBody } from '../frame/list.tsx';
import type { Definition, Form, Screen } from '../frame/screen.tsx';

/** Texts of an invoice, with their label, longest length, and lines if they may have several. */
const INVOICE = [
  ['invoice_number', 'Invoice number', 64],
  ['reference', 'Reference', 120],
  ['issued_on', 'Date of the invoice, such as 2026-11-21', 10],
  ['due_on', 'Due on, such as 2026-12-21', 10],
  ['notes', 'Notes', 2000, 4],
] as const;
const BILL_TO = [
  ['name', 'Billed to', 200],
  ['address', 'Address', 500, 3],
  ['tax_id', 'Tax number', 64],
  ['email', 'Email address', 254],
] as const;

interface Receipt {
  receipt_id: string;
  tx_sig: string;
  public_url: string;
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
      { name: 'product_id', label: 'Product id' },
      { name: 'customer_id', label: 'Customer id' },
      { name: 'wallet', label: 'Wallet' },
      { name: 'direction', label: 'Direction', options: ['received', 'paid'] },
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
    const {
      receipt_id: id,
      document,
      invoice_metadata: invoice,
      public_url: publicUrl,
      link,
      sha256,
      key_id: keyId,
      tx_sig: tx,
    } = receipt.value;
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
              ['Number in the chain', link && String(link.seq)],
              ['SHA-256', sha256],
              ['Signed by', keyId],
            ]}
          />
          <p>
            <a href={publicUrl}>Public page</a> · <a href={`/v1/receipt/${id}/pdf`}>PDF for the buyer</a> ·{' '}
            <a href={linkTo(screen, `/dashboard/receipts/${id}/pdf`)}>PDF with fee and invoice</a>
          </p>
        </section>
        <InvoiceForm screen={screen} invoice={invoice} />
        <ActSection screen={screen} act="send_proof" title="Email the proof">
          <ActForm screen={screen} act="send_proof" submit="Send">
            <TextField screen={screen} act="send_proof" name="email" label="Email address" type="email" max={254} />
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

const InvoiceForm = ({ screen, invoice }: { screen: Screen; invoice: Receipt['invoice_metadata'] }) => (
  <section>
    <h2>Invoice fields</h2>
    <p>They are on the PDFs, and no part of the signed receipt.</p>
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
