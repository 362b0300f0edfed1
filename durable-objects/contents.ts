import type { EntitlementSnapshot } from '#rules/balance.ts';
import type { Left } from './holding.ts';

export type Content =
  | ({ verb: 'consume'; units: number; isCounted: boolean; isRefunded: boolean; paymentId: string | null } & Left)
  | { verb: 'grant'; snapshot: EntitlementSnapshot }
  | ({ verb: 'refund'; consumptionId: string; units: number } & Left)
  /** Nonce of a wallet's sign-in that served a consume. */
  | { verb: 'sign_in' };
export type Verb<Name extends Content['verb']> = Extract<Content, { verb: Name }>;

const RADIX = 36;
const textOf = (figure: number | null): string => figure?.toString(RADIX) ?? '';
const figureOf = (text = ''): number | null => (text === '' ? null : Number.parseInt(text, RADIX));

/** Encodes a content as one line. Consumes are packed as numbers because of their count. Everything else is JSON. */
export function packContent(content: Content): string {
  if (content.verb !== 'consume') return JSON.stringify(content);
  const { units, isCounted, isRefunded, paymentId, remaining, paidThrough } = content;
  const marks = `${isCounted ? '' : 'u'}${isRefunded ? 'r' : ''}`;
  const fields = [textOf(units), textOf(remaining), textOf(paidThrough), marks, paymentId ?? ''];
  return fields.join().replace(/,+$/, '');
}

/** Throws if no release packed the text in this form. */
export function unpackContent(text: string): Content {
  if (text.startsWith('{')) return JSON.parse(text);
  const [units, remaining, paidThrough, marks = '', paymentId = ''] = text.split(',');
  return {
    verb: 'consume',
    units: figureOf(units)!,
    isCounted: !marks.includes('u'),
    isRefunded: marks.includes('r'),
    paymentId: paymentId || null,
    remaining: figureOf(remaining),
    paidThrough: figureOf(paidThrough),
  };
}
