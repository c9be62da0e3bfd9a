// The proxy in Bun; the file says the rest.
import "../proxies.test.mjs";
