import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import { findAccountByEmail } from '#features/accounts/auth/sign-in.ts';
import { findAccount } from '#features/accounts/store.ts';
import { listNewestMails } from '#features/email/store.ts';
import { renderMail } from '#features/email-delivery/attempt.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { Mail } from '#platform/db/tables/mail.ts';
import { type AppEnv, router } from '#platform/http/openapi.ts';
import { DevPage } from './dev-page.tsx';

const SHOWN_MAX = 200;

/** Local machine only: elsewhere the route does not exist. */
const localOnly = createMiddleware<AppEnv>(async (c, next) => {
  if (c.var.ctx.config.MAIL_PROVIDER !== 'local') throw new ApiError('not_found', { hidesPath: true });
  await next();
});

/** Null if the account was deleted with its data. */
async function readMail(ctx: Shard, mail: Mail) {
  const { accountId, address } = mail;
  const account =
    (accountId ? await findAccount(ctx.db, accountId) : address ? await findAccountByEmail(ctx as Ctx, address) : undefined) ?? null;
  if (account?.status === 'deleted') return null;
  const rendered = await renderMail(ctx, mail, account);
  const to = address ?? account?.email ?? null;
  return { id: mail.id, letter: mail.template, to, status: mail.status, error: mail.error, created_at: iso(mail.createdAt), ...rendered };
}

export const devMailRoutes = router();
devMailRoutes.get('/dev/mail', localOnly, async (c) => {
  const ctx = globalOf(c.var.ctx);
  const read = await Promise.all((await listNewestMails(ctx.db, SHOWN_MAX)).map((mail) => readMail(ctx, mail)));
  const mails = read.filter((mail) => mail !== null);
  if (c.req.query('format') === 'json') return c.json({ items: mails });
  const page = (
    <DevPage title="E-mails of this machine">
      {mails.length === 0 && <p>None was sent yet.</p>}
      {mails.map((mail) => (
        <section>
          <h2>{mail.subject}</h2>
          <p>
            {mail.status} to {mail.to ?? 'nobody'}, {mail.created_at}
          </p>
          <iframe
            title={mail.subject}
            // Links open in the top window, because the frame runs no scripts.
            srcdoc={mail.html.replace('<head>', '<head><base target="_top"/>')}
            sandbox="allow-top-navigation-by-user-activation"
            style="width:100%;height:420px;border:1px solid #ccc"
          />
          <pre style="white-space:pre-wrap">{mail.text}</pre>
        </section>
      ))}
    </DevPage>
  );
  return c.html(`<!doctype html>${page}`, 200, {
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'",
    'X-Content-Type-Options': 'nosniff',
  });
});
