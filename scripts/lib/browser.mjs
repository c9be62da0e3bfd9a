// Finds the browsers that the tests drive, and installs them where this is Debian and we are root.
// LOOPLET_CHROMIUM, LOOPLET_CHROMEDRIVER, LOOPLET_FIREFOX and LOOPLET_GECKODRIVER name others.
import { aptInstall, versions, which } from "./machine.mjs";

const browsers = {
  chromium: {
    browser: () =>
      process.env.LOOPLET_CHROMIUM ||
      which("chromium") ||
      which("chromium-browser") ||
      which("google-chrome"),
    driver: () => process.env.LOOPLET_CHROMEDRIVER || which("chromedriver"),
  },
  firefox: {
    browser: () => process.env.LOOPLET_FIREFOX || which("firefox-esr") || which("firefox"),
    driver: () => process.env.LOOPLET_GECKODRIVER || which("geckodriver"),
  },
};

/**
 * The arguments with which every test starts Chromium. Each window of a headless one has two hidden pages for the
 * suggestions below its address bar, and they take half of the time that opening a page takes. Chromium reads the
 * last `--disable-features` alone, so the features that Playwright turns off stand here again.
 */
export const chromiumArgs = [
  "--no-sandbox",
  "--disable-gpu",
  `--disable-features=${[
    ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
    // The list of playwright-core 1.64.
    ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "DialMediaRouteProvider"],
    ...["GlobalMediaControls", "HttpsUpgrades", "LensOverlay", "MediaRouter", "PaintHolding"],
    ...["ThirdPartyStoragePartitioning", "BlockOriginHeaderModificationOnRedirect", "Translate"],
    ...["AutoDeElevate", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"],
  ]}`,
];

/** `{ browser, driver }` as paths, or undefined. Firefox may have no driver: Playwright needs none. */
export function findBrowser(name) {
  const [browser, driver] = [browsers[name].browser(), browsers[name].driver()];
  return browser && (driver || name === "firefox") ? { browser, driver } : undefined;
}

/** Installs a browser if it is missing. If that is not possible, prints a warning and continues. */
export async function installBrowser(name) {
  if (findBrowser(name)) return;
  if (!(await aptInstall(name, versions.apt[name])))
    console.log(
      `\n!!! No ${name} with its WebDriver on this machine and no way to install them (needs apt and root).\n!!! Install them by hand: their tests are skipped until then.\n`,
    );
}
