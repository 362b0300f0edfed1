import type { Code, Root, RootContent } from 'mdast';

interface Tab {
  name: string;
  block: Code;
}

const CALLS_API = /(?:^|[\s$(])(?:api|curl) /;

/** Languages of adjacent blocks that do the same, with the names of their tabs. Commands count only if they call the API. */
const GROUPS: readonly Record<string, string>[] = [
  { sh: 'curl', ts: 'SDK' },
  { python: 'Python', go: 'Go', php: 'PHP' },
];

const isOf = (node: RootContent | undefined, language: string): node is Code =>
  node?.type === 'code' && node.lang === language && (language !== 'sh' || CALLS_API.test(node.value));

/** Tabs that begin at a position, or none. */
function tabsAt(nodes: readonly RootContent[], index: number): Tab[] {
  const group = GROUPS.find((languages) => Object.keys(languages).every((language, n) => isOf(nodes[index + n], language)));
  return Object.values(group ?? {}).map((name, n) => ({ name, block: nodes[index + n] as Code }));
}

/** Blocks of each group, by the names of their tabs. */
export const tabsIn = ({ children }: Root): Record<string, string>[] =>
  children.flatMap((_, index) => {
    const tabs = tabsAt(children, index);
    return tabs.length > 0 ? [Object.fromEntries(tabs.map(({ name, block }) => [name, block.value]))] : [];
  });

/** Element that Markdown has no node for. */
const element = (hName: string, hProperties: object, children: object[] = []): object => ({
  type: hName,
  data: { hName, hProperties },
  children,
});
const text = (value: string): object => ({ type: 'text', value });

/** Group of radio buttons, which need no script, and the block of each. */
function groupOf(tabs: Tab[], n: number): RootContent {
  const idOf = (name: string): string => `example-${n}-${name.toLowerCase()}`;
  return element('fieldset', { className: ['tabs'] }, [
    element('legend', { className: ['unseen'] }, [text('Example with')]),
    ...tabs.flatMap(({ name }, index) => [
      element('input', { type: 'radio', name: `example-${n}`, id: idOf(name), value: name, checked: index === 0 }),
      element('label', { htmlFor: idOf(name) }, [text(name)]),
    ]),
    ...tabs.map(({ name, block }) => element('div', { className: ['tab'], dataName: name }, [block])),
  ]) as RootContent;
}

/** Puts adjacent blocks that do the same into tabs. */
export const useTabs = () => (tree: Root) => {
  const nodes: RootContent[] = [];
  for (let index = 0, n = 0; index < tree.children.length; index++) {
    const tabs = tabsAt(tree.children, index);
    nodes.push(tabs.length > 0 ? groupOf(tabs, ++n) : tree.children[index]!);
    index += Math.max(0, tabs.length - 1);
  }
  tree.children = nodes;
};
