import type { Child } from 'hono/jsx';
import type { Locale } from '#core/locales.ts';
import type { EmailFacts, EmailTemplate } from '#rules/emails.ts';
import { paletteOf } from '../pages/parts/colour.ts';
import { plain, plainLines } from '../pages/parts/text.ts';
import { EMAILS, type EmailDefinition, TEXTS } from './emails.ts';

export interface Rendered {
  subject: string;
  html: string;
  text: string;
}

export interface Frame {
  locale: Locale;
  baseUrl: string;
  token: string;
  operator: string | null;
}

const BUTTON = '#1f2430';
/** Longest subject. Mail programs show a single line. */
const SUBJECT_MAX = 150;
const VALUE_MAX = 300;
const QUOTED_MAX = 1000;

const cut = (text: string, max: number): string => ([...text].length > max ? `${[...text].slice(0, max - 1).join('')}…` : text);
/** Makes untrusted text one harmless line and replaces lone surrogates, which email cannot encode. */
const harmless = (text: string, max: number): string => cut(plain(text.toWellFormed()), max);

/**
 * Renders an email as HTML and plain text with the same texts and links. Untrusted text becomes one harmless line per value, without
 * control, invisible or bidirectional characters, and is escaped in HTML.
 */
export function renderEmail<N extends EmailTemplate>(name: N, facts: EmailFacts[N], frame: Frame): Rendered {
  const email: EmailDefinition<EmailFacts[N]> = EMAILS[name];
  const texts = TEXTS[frame.locale][name];
  const values = Object.fromEntries(
    Object.entries(email.values?.(facts, frame.locale) ?? {}).map(([key, value]) => [key, harmless(value, VALUE_MAX)]),
  );
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (match, key: string) => values[key] ?? match);
  const subject = cut(fill(texts.subject), SUBJECT_MAX);
  const greeting = texts.greeting && values.name ? [texts.greeting] : [];
  const entry = texts.entry && values.platform ? texts.entry : [];
  const more = texts.more && values.is_final ? [texts.more] : [];
  const lines = [...greeting, ...texts.lines, ...entry, ...more].map(fill);
  const rows = Object.entries(texts.rows ?? {}).flatMap(([key, label]) => (values[key] ? [{ label, value: values[key] }] : []));
  const quoted = plainLines(email.quoted?.(facts)?.toWellFormed() ?? '').map((line) => cut(line, QUOTED_MAX));
  const link = email.path && texts.button ? { url: `${frame.baseUrl}${email.path(facts, frame.token)}`, name: texts.button } : null;
  const alsoPath = email.alsoPath?.(facts) ?? null;
  const also = alsoPath !== null && texts.also ? { url: `${frame.baseUrl}${alsoPath}`, name: texts.also } : null;
  const links = [also, texts.purchases ? { url: `${frame.baseUrl}/me?locale=${frame.locale}`, name: texts.purchases } : null].filter(
    (one) => one !== null,
  );
  const foot = [frame.operator === null ? null : harmless(frame.operator, VALUE_MAX), new URL(frame.baseUrl).host]
    .filter((part) => part !== null)
    .join(' · ');
  const text = [
    ...lines,
    ...rows.map(({ label, value }) => `${label}: ${value}`),
    ...quoted.map((line) => `> ${line}`),
    ...[...(link ? [link] : []), ...links].map(({ name: label, url }) => `${label}: ${url}`),
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
      {link && <Button {...link} accent={email.accent?.(facts)} />}
      {links.map(({ url, name: label }) => (
        <p style="margin:0 0 16px">
          <a href={url} style="color:#1f2430">
            {label}
          </a>
        </p>
      ))}
    </Layout>
  );
  return { subject, html: `<!doctype html>${html}`, text };
}

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

/** Link as a button, with its URL below for copying. */
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

/** Layout of one column without images, scripts or external resources, so that every mail program renders it. */
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
