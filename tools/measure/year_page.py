def page(team, measured): return ""
def tiers_chart(measured): return ""
