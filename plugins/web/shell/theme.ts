// Runs before the first paint, as a script of its own: a page that turns dark after it was light is worse than a late one.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const choice = () => localStorage.getItem("theme") ?? "system";
  const apply = () => {
    const isDark = choice() === "dark" || (choice() === "system" && dark.matches);
    document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  };
  apply();
  dark.addEventListener("change", apply);
})();
