import { type PageContext, sendPage } from './document.tsx';
import { Mark } from './parts/parts.tsx';

/** Says that the test buyer is known, where a platform would send the buyer back. */
export function sendTestIdentity(page: PageContext): Response {
  const title = page.say('testIdentity');
  return sendPage(
    page,
    { title, layout: 'receipt' },
    <main class="panel test-frame">
      <p class="test-mark">{page.say('testPage')}</p>
      <Mark kind="done" />
      <h1>{title}</h1>
      <p>{page.say('testIdentityHelp')}</p>
    </main>,
  );
}
