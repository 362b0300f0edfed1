import type { Child } from 'hono/jsx';
import type { Locale } from '#core/locales.ts';
import type { LetterFacts, LetterName } from '#rules/letters.ts';
import { paletteOf } from '../pages/parts/colour.ts';
import { plain, plainLines } from '../pages/parts/text.ts';
import { LETTERS, type Letter, WORDS } from './letters.ts';

/** A letter as a provider takes it: two forms of the same words. */
export interface Rendered {
  subject: string;
  html: string;
  text: string;
}

export interface Frame {
  locale: Locale;
  baseUrl: string;
  /** Only for letters that carry one. */
  token: string;
  /** Who runs the service, at the foot. */
  operator: string | null;
}

/** Colour of a button where the letter has none. */
const BUTTON = '#1f2430';
/** A subject is one line of a header, and mail programs show no more of it. */
const SUBJECT_MAX = 150;
/** Of one value: names are shorter. */
const VALUE_MAX = 300;
/** Of one line that the sender wrote. */
const QUOTED_MAX = 1000;

const cut = (text: string, max: number): string => ([...text].length > max ? `${[...text].slice(0, max - 1).join('')}…` : text);
/** A stranger's text as one harmless line; half a character, which no mail can carry, becomes the sign for one. */
const harmless = (text: string, max: number): string => cut(plain(text.toWellFormed()), max);

/**
 * A letter in one language as HTML and as plain text, with the same words and the same link. What strangers wrote is one harmless line each:
 * no control characters, nothing invisible, nothing that turns the reading direction; in HTML it is escaped.
 */
export function renderLetter<N extends LetterName>(name: N, facts: LetterFacts[N], frame: Frame): Rendered {
  const letter: Letter<LetterFacts[N]> = LETTERS[name];
  const words = WORDS[frame.locale][name];
  const values = Object.fromEntries(
    Object.entries(letter.values?.(facts, frame.locale) ?? {}).map(([key, value]) => [key, harmless(value, VALUE_MAX)]),
  );
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole);
  const subject = cut(fill(words.subject), SUBJECT_MAX);
  const greeting = words.greeting && values.name ? [words.greeting] : [];
  const entry = words.entry && values.platform ? words.entry : [];
  const lines = [...greeting, ...words.lines, ...entry].map(fill);
  const rows = Object.entries(words.rows ?? {}).flatMap(([key, label]) => (values[key] ? [{ label, value: values[key] }] : []));
  const quoted = plainLines(letter.quoted?.(facts)?.toWellFormed() ?? '').map((line) => cut(line, QUOTED_MAX));
  const link = letter.path && words.button ? { url: `${frame.baseUrl}${letter.path(facts, frame.token)}`, name: words.button } : null;
  const alsoPath = letter.alsoPath?.(facts) ?? null;
  const also = alsoPath !== null && words.also ? { url: `${frame.baseUrl}${alsoPath}`, name: words.also } : null;
  const foot = [frame.operator === null ? null : harmless(frame.operator, VALUE_MAX), new URL(frame.baseUrl).host]
    .filter((part) => part !== null)
    .join(' · ');
  const text = [
    ...lines,
    ...rows.map(({ label, value }) => `${label}: ${value}`),
    ...quoted.map((line) => `> ${line}`),
    ...[link, also].flatMap((one) => (one ? [`${one.name}: ${one.url}`] : [])),
    `-- \n${foot}`,
  ].join('\n\n');
  const html = (
    <Layout locale={frame.locale} subject={subject} foot={foot}>
      {lines.map((line) => (
        <p style="margin:0 0 16px">{line}</p>
      ))}
      {rows.length > 0 && <FactTable rows={rows} />}
      {quoted.length > 0 && (
        <blockquote style="margin:0 0 16px;padding:0 0 0 12px;border-left:3px solid #d5d9e0;color:#4a5160">
          {quoted.map((line) => (
            <p style="margin:0 0 8px">{line}</p>
          ))}
        </blockquote>
      )}
      {link && <Button {...link} accent={letter.accent?.(facts)} />}
      {also && (
        <p style="margin:0 0 16px">
          <a href={also.url} style="color:#1f2430">
            {also.name}
          </a>
        </p>
      )}
    </Layout>
  );
  return { subject, html: `<!doctype html>${html}`, text };
}

/** Facts with their names: a table, which every mail program can draw. */
const FactTable = ({ rows }: { rows: { label: string; value: string }[] }) => (
  <table style="width:100%;border-collapse:collapse;margin:0 0 16px">
    {rows.map(({ label, value }) => (
      <tr>
        <td style="padding:8px 16px 8px 0;border-top:1px solid #d5d9e0;color:#5b6270;vertical-align:top">{`${label}: `}</td>
        <td style="padding:8px 0;border-top:1px solid #d5d9e0;overflow-wrap:anywhere">{value}</td>
      </tr>
    ))}
  </table>
);

/** The link of a letter as a button, and its address for who copies it. */
function Button({ url, name, accent: hex = BUTTON }: { url: string; name: string; accent?: string | undefined }) {
  const { accent, onAccent } = paletteOf(hex, 'light');
  return (
    <>
      <p style="margin:24px 0">
        <a
          href={url}
          style={`display:inline-block;padding:12px 20px;border-radius:8px;background:${accent};color:${onAccent};text-decoration:none;font-weight:600`}
        >
          {name}
        </a>
      </p>
      <p style="margin:0 0 16px;font-size:13px;color:#5b6270;word-break:break-all">{url}</p>
    </>
  );
}

/** One column that every mail program can draw: no picture, no script, nothing that is loaded. */
function Layout({ locale, subject, foot, children }: { locale: Locale; subject: string; foot: string; children: Child }) {
  return (
    <html lang={locale}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light" />
        <title>{subject}</title>
      </head>
      <body style="margin:0;background:#f4f5f7;color:#1f2430;font:16px/1.55 -apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif">
        <div style="max-width:560px;margin:0 auto;padding:32px 20px">
          <div style="padding:28px;background:#ffffff;border-radius:12px">
            <h1 style="margin:0 0 20px;font-size:20px;line-height:1.3">{subject}</h1>
            {children}
          </div>
          <p style="margin:16px 8px;font-size:13px;color:#5b6270">{foot}</p>
        </div>
      </body>
    </html>
  );
}
