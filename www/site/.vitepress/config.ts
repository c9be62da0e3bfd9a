import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig } from "vitepress";
import { anchorOf, forSite, llmsText, shelvesOf } from "../shelves.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const docs = join(root, "docs");
const { description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  description: string;
};
const shelves = shelvesOf(readFileSync(join(docs, "README.md"), "utf8"));

const linkTo = (path: string): string => `/${path.replace(/\.md$/, "")}`;
const sidebar: DefaultTheme.SidebarItem[] = shelves.map(({ title, groups }) => ({
  text: title,
  items: groups.map((group) => ({
    text: group.title,
    items: group.pages.map((page) => ({ text: page.title, link: linkTo(page.path) })),
  })),
}));

export default defineConfig({
  title: "looplet",
  description,
  lang: "en",
  base: "/docs/",
  srcDir: "../../docs",
  outDir: "../../target/site",
  cacheDir: "../../target/site-cache",
  rewrites: { "README.md": "index.md" },
  cleanUrls: true,
  head: [["link", { rel: "icon", href: "/docs/icon.svg" }]],
  markdown: {
    anchor: { slugify: anchorOf },
    // The default themes have less contrast than WCAG AA asks for.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    logo: "/icon.svg",
    sidebar,
    nav: shelves.flatMap(({ title, groups }) => {
      const first = groups[0]?.pages[0];
      return first === undefined ? [] : [{ text: title, link: linkTo(first.path) }];
    }),
    outline: [2, 3],
    search: { provider: "local" },
  },
  transformHead: ({ pageData }) => [
    ["link", { rel: "alternate", type: "text/markdown", href: `/docs/${pageData.relativePath}` }],
  ],
  vite: {
    plugins: [
      {
        name: "links-of-the-site",
        enforce: "pre",
        transform: (code, id) => (id.endsWith(".md") ? forSite(code, relative(docs, id)) : undefined),
      },
    ],
  },
  /** Each page as Markdown at the page's address with `.md`, and their list in llms.txt. */
  buildEnd({ outDir }) {
    for (const path of readdirSync(docs, { recursive: true, encoding: "utf8" })) {
      if (!path.endsWith(".md")) continue;
      const target = join(outDir, path.replace(/^README\.md$/, "index.md"));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, forSite(readFileSync(join(docs, path), "utf8"), path));
    }
    writeFileSync(join(outDir, "llms.txt"), llmsText(shelves, description));
    cpSync(join(root, "www/public/icon.svg"), join(outDir, "icon.svg"));
  },
});
