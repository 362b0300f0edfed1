import { copyText } from './copy-text.ts';

/** Adds to a documentation page what needs a script: buttons that copy, and results while one types. */
const SEARCH_MIN = 2;
const SEARCH_PAUSE_MS = 150;

interface Found {
  items: { title: string; url: string }[];
}

function addCopying(button: HTMLButtonElement, read: () => Promise<string>, shown: Element | null): void {
  const name = button.textContent;
  button.addEventListener('click', async () => {
    const isCopied = await read()
      .then((text) => copyText(text, shown))
      .catch(() => false);
    button.textContent = isCopied ? 'Copied' : 'Not copied';
    setTimeout(() => {
      button.textContent = name;
    }, 2000);
  });
}

/** Opens the contents on a wide screen. A narrow screen begins with the page itself. */
const contents = document.querySelector<HTMLDetailsElement>('.contents details');
if (contents) contents.open = matchMedia('(min-width: 60rem)').matches;

for (const pre of document.querySelectorAll('article pre')) {
  const [block, button] = [document.createElement('div'), document.createElement('button')];
  block.className = 'block';
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  pre.replaceWith(block);
  block.append(pre, button);
  addCopying(button, async () => pre.textContent ?? '', pre);
}

const forAgent = document.querySelector<HTMLButtonElement>('button[data-markdown]');
if (forAgent) {
  forAgent.hidden = false;
  addCopying(forAgent, async () => (await fetch(forAgent.dataset.markdown!)).text(), null);
}

for (const radio of document.querySelectorAll<HTMLInputElement>('.tabs > input'))
  radio.addEventListener('change', () => {
    for (const other of document.querySelectorAll<HTMLInputElement>('.tabs > input')) if (other.value === radio.value) other.checked = true;
  });

const input = document.querySelector<HTMLInputElement>('search input');
const list = document.querySelector<HTMLElement>('search .found');
let pause: ReturnType<typeof setTimeout> | undefined;
let asked = 0;

async function showFound(query: string, turn: number): Promise<void> {
  const found = await fetch(`/docs/search.json?${new URLSearchParams({ q: query, limit: '8' })}`)
    .then(async (response) => (response.ok ? ((await response.json()) as Found).items : []))
    .catch(() => []);
  if (turn !== asked) return;
  list!.replaceChildren(
    ...found.map(({ title, url }) => {
      const [item, link] = [document.createElement('li'), document.createElement('a')];
      link.className = 'found-link';
      link.href = url;
      link.textContent = title;
      item.append(link);
      return item;
    }),
  );
  list!.hidden = found.length === 0;
}

if (input && list)
  input.addEventListener('input', () => {
    clearTimeout(pause);
    const [query, turn] = [input.value.trim(), ++asked];
    if (query.length < SEARCH_MIN) list.hidden = true;
    else pause = setTimeout(() => void showFound(query, turn), SEARCH_PAUSE_MS);
  });
document.querySelector('search')?.addEventListener('keydown', (event) => {
  if ((event as KeyboardEvent).key === 'Escape' && list) list.hidden = true;
});
