import { posix } from 'node:path';
import type { Element, ElementContent, Root, RootContent } from 'hast';
import type { Root as Markdown } from 'mdast';
import rehypeSlug from 'rehype-slug';
import rehypeStringify from 'rehype-stringify';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';
import { tabsIn, useTabs } from './tabs.ts';

export interface Section {
  /** Id of its heading. Empty before the first heading below the title. */
  id: string;
  title: string;
  text: string;
}

export interface RenderedPage {
  title: string;
  /** First paragraph, as plain text. */
  description: string;
  html: string;
  sections: Section[];
}

const DESCRIPTION_MAX = 200;

type Linked = { type: string; url?: string; children?: unknown[] };
const childrenOf = (node: Linked): Linked[] => (node.children ?? []) as Linked[];

/** Path on the site of a link within the repository. Null for a file that is not served. */
export function siteLink(page: string, url: string): string | null {
  if (/^(?:[a-z]+:|#|\/)/.test(url)) return url;
  const [path = '', anchor] = url.split('#');
  const target = posix.join(posix.dirname(`docs/${page}`), path);
  const after = anchor === undefined ? '' : `#${anchor}`;
  if (target === 'README.md') return `/docs${anchor === 'quick-start' ? '#first-sale' : ''}`;
  return target.startsWith('docs/') && target.endsWith('.md') ? `/${target.slice(0, -'.md'.length)}${after}` : null;
}

/** Replaces links within the repository by those of the site, and links to files that are not served by their text. */
const useSiteLinks = (page: string) => () => (tree: Markdown) => {
  const visit = (node: Linked): void => {
    node.children = childrenOf(node).flatMap((child) => {
      visit(child);
      if (child.type !== 'link') return [child];
      const url = siteLink(page, child.url!);
      return url === null ? childrenOf(child) : [{ ...child, url }];
    });
    if (node.children.length === 0) delete node.children;
  };
  visit(tree as Linked);
};

const HEADING_ID = / ?\{#([\w-]+)\}$/;

/** Takes the id of a heading out of its text: `Title {#id}`. */
const useHeadingIds = () => (tree: Markdown) => {
  for (const node of tree.children) {
    const end = node.type === 'heading' ? node.children.at(-1) : undefined;
    const [, id] = (end?.type === 'text' && HEADING_ID.exec(end.value)) || [];
    if (id === undefined || end?.type !== 'text') continue;
    end.value = end.value.replace(HEADING_ID, '');
    node.data = { ...node.data, hProperties: { id } };
  }
};

/** Markdown as readers get it, without the ids of headings. */
export const withoutHeadingIds = (markdown: string): string => markdown.replace(/^(#+ .*?) \{#[\w-]+\}$/gm, '$1');

const isElement = (node: RootContent | ElementContent): node is Element => node.type === 'element';

/** Frames what may be wider than the page: it scrolls by itself, with the keyboard too. */
const frameWideParts = () => (tree: Root) => {
  let tables = 0;
  const visit = (parent: Root | Element): void => {
    parent.children = (parent.children as ElementContent[]).map((node) => {
      if (!isElement(node)) return node;
      visit(node);
      if (node.tagName === 'pre') return { ...node, properties: { ...node.properties, tabIndex: 0 } };
      if (node.tagName !== 'table') return node;
      const properties = { className: ['wide'], tabIndex: 0, role: 'region', ariaLabel: `Table ${++tables}` };
      return { type: 'element', tagName: 'div', properties, children: [node] } satisfies Element;
    });
  };
  visit(tree);
};

export const textOf = (node: RootContent | ElementContent | Root): string =>
  node.type === 'text' ? node.value : 'children' in node ? node.children.map(textOf).join('') : '';

/** Text of each heading and of what follows it. */
function sectionsOf(tree: Root): Section[] {
  const sections: Section[] = [];
  for (const node of tree.children.filter(isElement)) {
    const text = textOf(node).replace(/\s+/g, ' ').trim();
    if (node.tagName === 'h1') sections.push({ id: '', title: text, text: '' });
    else if (/^h[23]$/.test(node.tagName)) sections.push({ id: String(node.properties.id), title: text, text: '' });
    else if (sections.length > 0) sections.at(-1)!.text += `${text} `;
  }
  return sections;
}

const firstParagraph = (tree: Root): string => {
  const found = tree.children.find((node) => isElement(node) && node.tagName === 'p');
  const text = found ? textOf(found).replace(/\s+/g, ' ') : '';
  return text.length <= DESCRIPTION_MAX ? text : `${text.slice(0, DESCRIPTION_MAX).replace(/\s+\S*$/, '')} …`;
};

/** Renders a page of docs/ named by its path, without `.md`. HTML in the markdown is left out. */
export async function renderPage(page: string, markdown: string): Promise<RenderedPage> {
  const parser = unified().use(remarkParse).use(remarkGfm).use(useSiteLinks(page)).use(useHeadingIds).use(useTabs);
  const toTree = parser.use(remarkRehype).use(rehypeSlug).use(frameWideParts);
  const tree = (await toTree.run(toTree.parse(markdown))) as Root;
  const sections = sectionsOf(tree);
  if (sections[0]?.id !== '') throw new Error(`docs/${page}.md does not begin with its title`);
  return { title: sections[0].title, description: firstParagraph(tree), html: unified().use(rehypeStringify).stringify(tree), sections };
}

/** Examples of a page that are shown in tabs, by the names of these. */
export const tabbedExamplesIn = (markdown: string): Record<string, string>[] => tabsIn(unified().use(remarkParse).parse(markdown));
