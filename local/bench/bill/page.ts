import { difference, monthDollars, perMillion, sum, times, type Work } from './bill.ts';
import { ASSUMED, BYTES, type Counts, PRICES_OF } from './prices.ts';

/** Counts of each kind of work, to its end. */
export interface Measured {
  sale: Counts;
  /** To a customer without a purchase before. */
  newSale: Counts;
  saleDelivered: Counts;
  unpaid: Counts;
  x402: Counts;
  newX402: Counts;
  alone: Counts;
  each20: Counts;
  each10: Counts;
  group: Counts;
  /** A minute of the sweeps, with nothing to do. */
  idle: Counts;
}

/** Status polls of an abandoned session. */
export const POLLS = 6;
const MINUTES = 30 * 24 * 60;
const dollars = (amount: number): string =>
  amount < 20 ? `$${amount.toFixed(2)}` : `$${Math.round(Number(amount.toPrecision(3))).toLocaleString('en-US')}`;
const figure = (count: number): string =>
  count >= 100 ? String(Math.round(count / 10) * 10) : count >= 10 ? String(Math.round(count)) : String(Number(count.toPrecision(2)));

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function worksOf(m: Measured): Record<string, Work> {
  const consume = (counts: Counts): Work => ({ counts, cpuMs: ASSUMED.cpuMs.consume, bytes: 0 });
  const { sale: cpuMs, x402 } = ASSUMED.cpuMs;
  const deliveries = difference(m.saleDelivered, m.sale);
  return {
    'a sale': { counts: m.sale, cpuMs, bytes: BYTES.sale },
    'a sale, whole': { counts: sum(m.saleDelivered, m.unpaid), cpuMs, bytes: BYTES.sale },
    'an x402 payment': { counts: m.x402, cpuMs: x402, bytes: BYTES.x402 },
    'an x402 payment, whole': { counts: sum(m.x402, deliveries), cpuMs: x402, bytes: BYTES.x402 },
    'a use alone': consume(m.alone),
    'a use each 20 s': consume(m.each20),
    'a use each 10 s': consume(m.each10),
    'a use in a group of 12': consume(m.group),
  };
}

export function costPage(measured: Measured): string {
  const works = worksOf(measured);
  const counts = Object.entries(works).map(([name, work]) => {
    const { requests, rowsRead, rowsWritten, objectRequests, objectRows, messages, logLines } = work.counts;
    const cells = [requests, rowsRead, rowsWritten, objectRequests, objectRows, messages, logLines].map(figure);
    return [name, ...cells, dollars(perMillion(work))];
  });
  const idle = times(measured.idle, MINUTES);
  const month = (name: string, numbers: number[]) => [name, ...numbers.map((number) => dollars(monthDollars(works[name]!, number, idle)))];
  const payments = [1e3, 1e6, 1e8];
  return `# What a month costs

A month is $5 plus what the tables show. \`npm run bench -- --bill\` counts the work of the code and writes this page.
Prices are Cloudflare's list prices of ${PRICES_OF}. Your Solana node and network fees (5,000 lamports a signature) are not included.

## Payments a month

${table(
  ['', '1,000', '1 million', '100 million'],
  ['a sale', 'a sale, whole', 'an x402 payment', 'an x402 payment, whole'].map((name) => month(name, payments)),
)}

"Whole" adds a webhook endpoint that receives \`payment.confirmed\` and \`payment.finalized\`. A sale also gets an abandoned session with
${POLLS} status polls. The archive is not counted.

## A billion consumes a month

${table(
  ['', 'a month'],
  ['a use alone', 'a use each 20 s', 'a use each 10 s', 'a use in a group of 12'].map((name) => month(name, [1e9])),
)}

A use alone comes at least a minute after the customer's last one, in a shop where sixty customers use something in a minute. They share
what the usage of the shop's keys writes: up to three object rows a minute. "A use each 20 s" is one customer's steady use.

## Counts

Everything that one of them causes, until nothing is left to do. The last column is the price of a million beyond what the plan includes.

${table(['', 'requests', 'rows read', 'rows written', 'object requests', 'object rows', 'messages', 'log lines', 'a million'], counts)}

${notesOf(measured)}## Next

- [Data retention](data-retention.md)

Code: [\`local/bench/bill\`](../../local/bench/bill), [\`test/load/bill.test.ts\`](../../test/load/bill.test.ts)
`;
}

const notesOf = ({
  idle,
  newSale,
  newX402,
}: Measured): string => `- A request is a call, or an invocation by a message. A message is three operations of a queue.
- An alarm is one object row when it is set, and one object request when it rings. The purge of an object's keys, once a day, is not counted.
- Of the successes of \`consume\`, one in a hundred is logged.
- Assumed, not counted: ${ASSUMED.cpuMs.sale} ms of processor time a payment, ${ASSUMED.cpuMs.consume} ms a consume, ${ASSUMED.objectMsPerRequest} ms an object request,
  and rows that are stored for ${ASSUMED.monthsStored} months.
- The customer has bought before. A sale to a new one writes ${figure(newSale.rowsWritten)} rows and ${figure(newSale.objectRows)} object rows, an x402 payment ${figure(newX402.rowsWritten)} and ${figure(newX402.objectRows)}.
- A sale to a new customer adds at most ${(BYTES.sale / 1000).toFixed(1)} KB to the database, and an x402 payment ${(BYTES.x402 / 1000).toFixed(1)} KB, indexes included.
- Each minute the sweeps of an idle database read about ${Math.round(idle.rowsRead / 10) * 10} rows, write ${figure(idle.rowsWritten)} and send ${figure(idle.messages)} messages. The tables above include that.
- A database holds 10 GB.

## Measure it yourself

| Command | Shows |
|---|---|
| \`npm run bench -- --bill\` | this page, from new counts |
| \`npm run bench\` | time, rows and object calls of each journey, and of a list beside 100,000 receipts |
| \`npm run bench -- --compare FILE\` | the run beside an earlier \`dist/bench.json\`, with what became worse |
| \`npm run bench -- --rows beside\` | a live consume alone and with 100 running sandbox sessions |

The peer is Node with PostgreSQL. It is omitted, with a notice, if PostgreSQL is not installed.

`;
